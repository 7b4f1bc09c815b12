// A server with a browser before it, for the tests of the console: pages on which nothing runs that should not, whose
// complaints are noted, and which axe-core finds nothing serious in. RECENSION_PICTURES names a folder for screenshots,
// RECENSION_ASSETS one whose files are shown in place of those in the program, to change them without building it.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import { chromium } from 'playwright-core';
import { Server } from './server.js';

const { RECENSION_PICTURES: pictures, RECENSION_ASSETS: assets } = process.env;

export class Browsing {
  // With folders for backups, of which none is made by itself.
  async start() {
    this.server = await new Server((dir) => `[backups]\nfolder = "${dir}/backups"\nevery_seconds = 86400\n`).start();
    this.http = `http://${this.server.listen}`;
    this.browser = await chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args: ['--no-sandbox'] });
    if (pictures) mkdirSync(pictures, { recursive: true });
    return this;
  }

  async end() {
    await this.browser?.close();
    await this.server?.end();
  }

  async ask(method, path, body) {
    const response = await fetch(`${this.http}${path}`, {
      method,
      headers: { Authorization: `Basic ${btoa('adm:pass')}`, 'Content-Type': 'application/json' },
      body: body && JSON.stringify(body),
    });
    return response.json();
  }

  async opened(options = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
    if (assets) {
      await context.route(/\/_utils\/-\/.*\.\w+$/, (route) => {
        const name = new URL(route.request().url()).pathname.split('/').pop();
        const path = [join(assets, name), join(assets, 'vendor', name)].find(existsSync);
        return path ? route.fulfill({ path }) : route.continue();
      });
    }
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    page.said = [];
    page.on('dialog', (dialog) => {
      if (dialog.type() === 'alert') page.said.push(`dialog: ${dialog.message()}`);
      dialog.accept();
    });
    page.on('pageerror', (error) => page.said.push(String(error)));
    page.on('console', (message) => {
      const told = message.text();
      if (message.type() === 'error' && !/status of (400|401|403|404|409)/.test(told)) page.said.push(told);
    });
    // What the policy of a page forbids is told with its place.
    await page.addInitScript(() => document.addEventListener('securitypolicyviolation', (event) =>
      console.error('forbidden', event.violatedDirective, event.sourceFile, event.lineNumber, event.target?.outerHTML?.slice(0, 200))));
    return page;
  }

  async loggedIn(options, name = 'adm', password = 'pass', at = this.http) {
    const page = await this.opened(options);
    await page.goto(`${at}/_utils/`);
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.locator('.who bdi').first().waitFor();
    return page;
  }
}

export async function photographed(page, name) {
  if (pictures) await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: false, caret: 'initial' });
}

// `rules` are axe-core's: those to run, or with `enabled: false` those not to run again.
export async function isSound(page, what, rules = {}) {
  assert.deepEqual(page.said, [], what);
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  // All that is not a violation, and where each stands, would take most of the time.
  const wanted = { resultTypes: ['violations'], selectors: false, ...rules };
  const { violations } = await page.evaluate((wanted) => globalThis.axe.run(wanted), wanted);
  const serious = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact));
  const told = serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).slice(0, 3).join(' | ')}`);
  assert.deepEqual(told, [], what);
}

// The editor of a form, with all of its text replaced by what is pasted there, as a person would.
export async function written(page, label, text) {
  const editor = page.locator('.cm-content[contenteditable]').and(page.getByLabel(label)).filter({ visible: true }).first();
  await editor.click();
  await page.keyboard.press('Control+a');
  await editor.evaluate((place, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', text);
    place.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }, text);
}
