// Three servers of one store on a shared log, each by itself and behind a balancer that passes on TCP connections in
// turn: what was told by one is known by all, PouchDB syncs through any of them, and one may die.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test as withoutEnd } from 'node:test';
import PouchDB from 'pouchdb';

// What hangs fails.
const test = (name, run) => withoutEnd(name, { timeout: 300_000 }, run);

const dir = mkdtempSync(join(tmpdir(), 'recension-cluster-'));
const nodes = [];
let balancer;

async function startNode(name) {
  const log = process.env.RECENSION_CLUSTER_LOG ?? `file://${dir}/log?`;
  const store = `${log}&cache=${dir}/${name}&node=${name}`.replace('?&', '?');
  const args = ['serve', '--listen', '127.0.0.1:0', '--log', 'warn', store];
  const node = { name };
  node.process = spawn(process.env.RECENSION_BINARY, args, {
    env: { ...process.env, RECENSION_ADMIN: 'adm:pass' }, stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = await new Promise((resolve, reject) => {
    createInterface(node.process.stdout).once('line', resolve);
    node.process.once('exit', (code) => reject(new Error(`${name} ended with ${code}`)));
  });
  node.listen = line.match(/listening on http:\/\/([^/]+)/)[1];
  node.url = `http://adm:pass@${node.listen}`;
  return node;
}

// Each connection goes to the next server that takes it, and no request is looked into.
async function startBalancer() {
  let turn = 0;
  const server = createServer((client) => {
    const tryNext = (left) => {
      if (left === 0) return client.destroy();
      const [host, port] = nodes[turn++ % nodes.length].listen.split(':');
      const to = connect({ host, port: Number(port) });
      let connected = false;
      to.once('connect', () => { connected = true; client.pipe(to); to.pipe(client); });
      to.on('error', () => (connected ? client.destroy() : tryNext(left - 1)));
      client.on('error', () => to.destroy());
      client.once('close', () => to.destroy());
    };
    tryNext(nodes.length);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://adm:pass@127.0.0.1:${server.address().port}`;
  return { url, end: () => server.close() };
}

before(async () => {
  for (const name of ['one', 'two', 'three']) nodes.push(await startNode(name));
  balancer = await startBalancer();
});
after(() => {
  balancer?.end();
  for (const { process } of nodes) process.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

const plain = (url) => url.replace('adm:pass@', '');
const admin = { authorization: `Basic ${btoa('adm:pass')}` };
// Each on a connection of its own.
async function ask(url, method, path, { body, headers = admin } = {}) {
  const answer = await fetch(`${plain(url)}${path}`, {
    method, headers: { 'content-type': 'application/json', connection: 'close', ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { status: answer.status, cookie: answer.headers.get('set-cookie')?.split(';')[0], body: await answer.json() };
}

let nth = 0;
const local = () => new PouchDB(join(dir, `pouch-${nth++}`));
async function same(one, other, count) {
  const [a, b] = await Promise.all([one, other].map((db) => db.allDocs({ conflicts: true, include_docs: true })));
  assert.equal(a.rows.length, count);
  const told = (list) => list.rows.map(({ doc }) => JSON.stringify([doc._id, doc._rev, [...(doc._conflicts ?? [])].sort()]));
  assert.deepEqual(told(a), told(b));
}

test('what a client was told through the balancer is known to whom it asks next', async () => {
  for (let n = 0; n < 40; n++) {
    assert.equal((await ask(balancer.url, 'PUT', `/own${n}`)).status, 201);
    const first = await ask(balancer.url, 'PUT', `/own${n}/doc`, { body: { n } });
    assert.equal(first.status, 201);
    assert.equal((await ask(balancer.url, 'GET', `/own${n}/doc`)).body.n, n);
    const second = await ask(balancer.url, 'PUT', `/own${n}/doc`, { body: { n: n + 1, _rev: first.body.rev } });
    assert.equal(second.status, 201, JSON.stringify(second.body));
    const stale = await ask(balancer.url, 'PUT', `/own${n}/doc`, { body: { n: 0, _rev: first.body.rev } });
    assert.equal(stale.status, 409);
    assert.equal((await ask(balancer.url, 'DELETE', `/own${n}`)).status, 200);
  }
});

test('users, sessions and rights hold on every server', async () => {
  const user = { name: 'ada', password: 'lovelace', roles: [], type: 'user' };
  for (let n = 0; n < 6; n++) {
    const name = `ada${n}`;
    const body = { ...user, name };
    assert.equal((await ask(balancer.url, 'PUT', `/_users/org.couchdb.user:${name}`, { body })).status, 201);
    const login = await ask(balancer.url, 'POST', '/_session', { body: { name, password: 'lovelace' }, headers: {} });
    assert.equal(login.status, 200, JSON.stringify(login.body));
    for (const node of nodes) {
      const known = await ask(node.url, 'GET', '/_session', { headers: { cookie: login.cookie } });
      assert.equal(known.body.userCtx.name, name);
    }
    assert.equal((await ask(balancer.url, 'PUT', `/private${n}`)).status, 201);
    const security = { admins: { names: [], roles: [] }, members: { names: [name], roles: [] } };
    assert.equal((await ask(balancer.url, 'PUT', `/private${n}/_security`, { body: security })).status, 200);
    for (const node of nodes) {
      const asked = (headers) => ask(node.url, 'GET', `/private${n}/_all_docs?fresh=true`, { headers });
      assert.equal((await asked({ cookie: login.cookie })).status, 200);
      assert.equal((await asked({})).status, 401);
    }
  }
});

test('feeds of every server tell of what is written on any, in one order', async () => {
  await ask(nodes[0].url, 'PUT', '/feeds');
  const feeds = nodes.map((node) => {
    const db = new PouchDB(`${node.url}/feeds`, { skip_setup: true });
    const told = [];
    const feed = db.changes({ live: true, since: 0 });
    const whole = new Promise((resolve, reject) => {
      feed.on('change', ({ id }) => { told.push(id); if (told.length === 60) resolve(); }).on('error', reject);
    });
    return { feed, told, whole };
  });
  for (let n = 0; n < 60; n++) {
    const made = await ask(nodes[n % 3].url, 'PUT', `/feeds/d${n}`, { body: { n } });
    assert.equal(made.status, 201, JSON.stringify(made.body));
  }
  await Promise.all(feeds.map(({ whole }) => whole));
  const expected = Array.from({ length: 60 }, (_, n) => `d${n}`);
  for (const { feed, told } of feeds) {
    feed.cancel();
    assert.deepEqual(told, expected);
  }
});

for (const [what, of] of [['every server', () => nodes.map(({ url }) => url)],
                          ['the balancer', () => [balancer.url, balancer.url, balancer.url]]]) {
  test(`PouchDB syncs through ${what}`, async () => {
    const name = what.replace(' ', '-');
    const replicas = of().map((url) => ({ one: local(), remote: new PouchDB(`${url}/${name}`) }));
    await replicas[0].remote.info();
    for (const [n, { one }] of replicas.entries()) {
      await one.bulkDocs(Array.from({ length: 300 }, (_, d) => ({ _id: `d${d}`, by: n })));
    }
    for (let round = 0; round < 2; round++) {
      for (const { one, remote } of replicas) await one.sync(remote, { batch_size: 100 });
    }
    for (const { one } of replicas) await one.replicate.from(replicas[0].remote);
    await same(replicas[0].one, replicas[1].one, 300);
    await same(replicas[1].one, replicas[2].one, 300);
    await same(replicas[0].one, replicas[0].remote, 300);
    const done = replicas.map(({ one, remote }) => {
      const sync = one.sync(remote, { live: true, retry: true });
      const seen = new Set();
      const whole = new Promise((resolve, reject) => {
        one.changes({ live: true, since: 'now' }).on('change', ({ id }) => { seen.add(id); if (seen.size === 3) resolve(); })
          .on('error', reject);
      });
      return { sync, whole };
    });
    for (const [n, { one }] of replicas.entries()) await one.put({ _id: `live${n}` });
    await Promise.all(done.map(({ whole }) => whole));
    done.forEach(({ sync }) => sync.cancel());
  });
}

test('a server dies during a sync through the balancer, which ends none the less', async () => {
  const [one, remote, other] = [local(), new PouchDB(`${balancer.url}/dies`), local()];
  await remote.info();
  await one.bulkDocs(Array.from({ length: 1500 }, (_, n) => ({ _id: `d${n}`, n })));
  const sync = one.replicate.to(remote, { live: true, retry: true, batch_size: 50, back_off_function: () => 100 });
  await new Promise((resolve) => sync.once('change', resolve));
  nodes[1].process.kill('SIGKILL');
  const end = Date.now() + 60_000;
  let count;
  do {
    count = (await remote.info().catch(() => ({}))).doc_count;
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.ok(Date.now() < end, `${count} documents have come`);
  } while (count !== 1500);
  sync.cancel();
  await other.replicate.from(remote);
  await same(one, other, 1500);
});
