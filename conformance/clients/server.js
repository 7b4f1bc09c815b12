// The real `recension serve`, which can be killed and started again where it was.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after } from 'node:test';

const binary = process.env.RECENSION_BINARY;
if (!binary) throw new Error('RECENSION_BINARY must name the recension binary');

// A test that fails leaves its server behind, and node would wait for it.
const running = new Set();
after(() => running.forEach((child) => child.kill('SIGKILL')));

export class Server {
  // `config` is told the server's folder, and makes the text of a configuration file.
  constructor(config) {
    this.dir = mkdtempSync(join(tmpdir(), 'recension-clients-'));
    this.listen = '127.0.0.1:0';
    this.more = [];
    if (config) {
      writeFileSync(join(this.dir, 'config.toml'), config(this.dir));
      this.more = ['--config', join(this.dir, 'config.toml')];
    }
  }

  async start() {
    this.process = spawn(binary, ['serve', join(this.dir, 'store'), '--listen', this.listen, '--log', 'warn', ...this.more], {
      env: { ...process.env, RECENSION_ADMIN: 'adm:pass' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const child = this.process;
    running.add(child);
    this.gone = new Promise((resolve) => child.once('exit', resolve)).then(() => running.delete(child));
    const exited = new Promise((_, reject) =>
      this.process.once('exit', (code) => reject(new Error(`the server ended with ${code}`))));
    exited.catch(() => {});
    const line = new Promise((resolve) => createInterface(this.process.stdout).once('line', resolve));
    const said = await Promise.race([line, exited]);
    this.listen = said.match(/listening on http:\/\/([^/]+)/)[1];
    this.url = `http://adm:pass@${this.listen}`;
    return this;
  }

  // kill -9: nothing is written any more. It may have ended already.
  async kill() {
    this.process.kill('SIGKILL');
    await this.gone;
  }

  async end() {
    await this.kill();
    rmSync(this.dir, { recursive: true, force: true });
  }
}
