// Fauxton, CouchDB's own pages (as the npm package pouchdb-fauxton has them), in Chromium against the real server:
// browsing, editing, querying and replicating. A server in this process puts the pages before the database's answers, so
// that both have one origin, as with CouchDB.
import assert from 'node:assert/strict';
import { createServer, request as ask } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import PouchDB from 'pouchdb';
import { chromium } from 'playwright-core';
import { Server } from './server.js';

const pages = fileURLToPath(new URL('./node_modules/pouchdb-fauxton/www/', import.meta.url));
const types = { '.js': 'text/javascript', '.css': 'text/css', '.html': 'text/html', '.png': 'image/png', '.svg': 'image/svg+xml' };
let server, front, browser, page, origin, db;

function answer(incoming, outgoing) {
  const path = incoming.url.split('?')[0];
  if (path.startsWith('/_utils/')) {
    const file = join(pages, path.slice('/_utils/'.length) || 'index.html');
    const type = types[extname(file)] ?? 'application/octet-stream';
    return readFile(file).then(
      (bytes) => outgoing.writeHead(200, { 'content-type': type }).end(bytes),
      () => outgoing.writeHead(404).end());
  }
  const [host, port] = server.listen.split(':');
  const authorization = `Basic ${Buffer.from('adm:pass').toString('base64')}`;
  const headers = { ...incoming.headers, host: server.listen, authorization };
  delete headers.origin;
  delete headers.referer;
  const onwards = ask({ host, port, path: incoming.url, method: incoming.method, headers }, (from) => {
    outgoing.writeHead(from.statusCode, from.statusMessage, from.headers);
    from.pipe(outgoing);
  });
  onwards.on('error', () => outgoing.destroy());
  incoming.pipe(onwards);
}

before(async () => {
  server = await new Server().start();
  front = createServer(answer);
  await new Promise((resolve) => front.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${front.address().port}`;
  db = new PouchDB(`${server.url}/cities`);
  await db.bulkDocs(Array.from({ length: 30 }, (_, n) => ({ _id: `city-${String(n).padStart(2, '0')}`, n, kind: n % 2 ? 'odd' : 'even' })));
  await db.put({ _id: '_design/by', views: { kind: { map: 'function (doc) { emit(doc.kind, doc.n); }', reduce: '_sum' } } });
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args: ['--no-sandbox'] });
  page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
  page.setDefaultTimeout(20_000);
  await page.goto(`${origin}/_utils/index.html`);
});

after(async () => {
  await browser?.close();
  front?.closeAllConnections();
  front?.close();
  await server?.end();
});

async function open(hash, selector) {
  await page.goto(`${origin}/_utils/index.html#/${hash}`);
  await page.locator(selector).first().waitFor();
}

const shown = () => page.locator('#app-container, body').first().innerText();

test('databases and their documents are listed', async () => {
  await open('_all_dbs', 'a:has-text("cities")');
  assert.match(await shown(), /cities/);
  await open('database/cities/_all_docs', 'text=city-00');
  assert.match(await shown(), /city-10/);
});

test('a document is opened, edited and saved', async () => {
  await open('database/cities/city-03', '.ace_editor');
  await page.waitForFunction(() => /city-03/.test(window.ace.edit(document.querySelector('.ace_editor')).getValue()));
  await page.evaluate(() => {
    const editor = window.ace.edit(document.querySelector('.ace_editor'));
    editor.setValue(JSON.stringify({ ...JSON.parse(editor.getValue()), changed: true }));
  });
  await page.locator('button:has-text("Save")').first().click();
  await assert.doesNotReject(async () => {
    for (let tries = 0; !(await db.get('city-03')).changed; tries++) {
      if (tries > 100) throw new Error('it was not saved');
      await page.waitForTimeout(100);
    }
  });
});

test('a view is read', async () => {
  await open('database/cities/_design/by/_view/kind', 'text=city-00');
  assert.match(await shown(), /even/);
});

test('a query is run', async () => {
  await open('database/cities/_find', '.ace_editor');
  await page.evaluate(() => {
    const editor = window.ace.edit(document.querySelector('.ace_editor'));
    editor.setValue(JSON.stringify({ selector: { n: { $gt: 27 } } }));
  });
  await page.locator('button:has-text("Run Query")').first().click();
  await page.locator('text=city-29').first().waitFor();
  const found = await shown();
  assert.match(found, /city-28/);
  assert.doesNotMatch(found, /city-10/);
});

// Fills in the form of a new replication and starts it. A local database is a source by its name, a remote one by its URL.
async function replicate({ source, target, type = 'One time', name = '' }) {
  await page.goto('about:blank');
  const isLocal = !source.includes('://');
  await open(isLocal ? `replication/${source}` : 'replication/_create', '#replication-source');
  await page.locator('select#replication-source').selectOption({ label: isLocal ? 'Local database' : 'Remote database' });
  if (!isLocal) await page.locator('.replication__remote-connection-url').first().fill(source);
  await page.locator('select#replication-target').first().selectOption({ label: 'New local database' });
  await page.locator('.replication__new-input').fill(target);
  // The select of the type has the same id as the one of the target.
  await page.locator('select#replication-target').nth(1).selectOption({ label: type });
  await page.locator('.replication__doc-name-input').fill(name);
  await page.locator('#replicate').click();
  // What is local is reached with the password of who asks.
  await page.locator('.password-modal-input').fill('pass');
  const isAsked = (answer) => answer.url().endsWith('/_replicator') && answer.request().method() === 'POST';
  const asked = page.waitForResponse(isAsked);
  await page.locator('.modal-footer >> text=Start Replication').click();
  assert.equal((await asked).status(), 201);
}

// The status that the page of replications shows of one, by its target.
async function shownStatus(target, wanted) {
  for (let tries = 0; ; tries++) {
    await page.goto('about:blank');
    await open('replication', '.replication__table-row, .replication__empty-row');
    const row = page.locator(`.replication__table-row:has-text("/${target}")`);
    const status = await row.count() ? (await row.locator('.replication__row-status').innerText()).toLowerCase() : 'no row';
    if (wanted.includes(status)) return row;
    if (tries > 40) assert.fail(`${target} is shown as ${status}, not as ${wanted}`);
    await page.waitForTimeout(250);
  }
}

async function until(what, holds) {
  for (let tries = 0; !(await holds().catch(() => false)); tries++) {
    if (tries > 100) assert.fail(`${what} did not come to be`);
    await page.waitForTimeout(100);
  }
}

test('a replication is started, completes, and is shown so', async () => {
  await fetch(`${origin}/_replicator`, { method: 'PUT' });
  await replicate({ source: 'cities', target: 'copied', name: 'by-name' });
  const row = await shownStatus('copied', ['completed']);
  assert.match(await row.innerText(), /\/cities[\s\S]*One time/);
  const copied = new PouchDB(`${server.url}/copied`);
  const ids = async (own) => (await own.allDocs()).rows.map(({ id, value }) => `${id} ${value.rev}`);
  assert.deepEqual(await ids(copied), await ids(db));
  assert.equal((await new PouchDB(`${server.url}/_replicator`).get('by-name'))._replication_state, 'completed');
});

test('a replication that is impossible is shown as failed, with its reason', async () => {
  await replicate({ source: 'ftp://127.0.0.1/cities', target: 'never' });
  const row = await shownStatus('never', ['failed', 'error']);
  const { rows } = await new PouchDB(`${server.url}/_replicator`).allDocs({ include_docs: true });
  const failed = rows.find(({ doc }) => doc.target?.url?.includes('/never')).doc;
  assert.ok(failed._replication_state_reason, JSON.stringify(failed));
  assert.match(await row.innerText(), /One time/);
});

test('a continuous replication goes on until its document is deleted on the page', async () => {
  await replicate({ source: 'cities', target: 'live', type: 'Continuous' });
  const live = new PouchDB(`${server.url}/live`);
  await until('the copy', async () => (await live.info()).doc_count === (await db.info()).doc_count);
  await db.put({ _id: 'later', n: 100 });
  await until('the later one', async () => (await live.get('later')).n === 100);
  const jobs = async () => (await (await fetch(`${origin}/_scheduler/jobs`)).json()).jobs.filter(({ target }) => target.includes('/live'));
  assert.equal((await jobs()).length, 1);
  await page.goto('about:blank');
  await open('replication', '.replication__table-row:has-text("/live")');
  const row = page.locator('.replication__table-row:has-text("/live")');
  assert.match(await row.innerText(), /Continuous/);
  await row.locator('.icon-trash').click();
  await page.locator('.modal-footer >> text=Delete Document').click();
  await until('no job', async () => (await jobs()).length === 0);
  await until('no row', async () => (await page.locator('.replication__table-row:has-text("/live")').count()) === 0);
  await db.put({ _id: 'too-late', n: 101 });
  assert.equal((await live.info()).doc_count + 1, (await db.info()).doc_count);
});
