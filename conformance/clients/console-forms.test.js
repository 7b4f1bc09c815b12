// Forms of the console that the other files do not use, in real Chromium: an index, of hand and of the advice for a query
// that was slow; a design document; a server admin; a schema that is taken away; and a database that is dropped.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browsing, isSound, photographed, written } from './browsing.js';

let browsing, http, page;
const ask = (...request) => browsing.ask(...request);
const go = (path) => page.goto(http + path);
const button = (name) => page.getByRole('button', { name, exact: true });
const told = (text) => page.getByRole('status').getByText(text).waitFor();
const indexes = () => page.getByRole('region', { name: 'Indexes', exact: true });

before(async () => {
  browsing = await new Browsing().start();
  http = browsing.http;
  await ask('PUT', '/long');
  const text = 'x'.repeat(2000);
  for (let n = 0; n < 5; n++) {
    await ask('POST', '/long/_bulk_docs', { docs: Array.from({ length: 2000 }, (_, i) => ({ _id: `d${n}-${i}`, kind: i % 50, n: i, text })) });
  }
  page = await browsing.loggedIn();
});

after(() => browsing?.end());

test('a query that was slow is listed, and the index is made that would have helped', async () => {
  const slow = page.getByRole('region', { name: 'Queries that took long' });
  // Every pattern is looked for in 8 MB of text, and found in none: that takes long on any machine.
  for (let patterns = 20; patterns <= 320 && !(await slow.count()); patterns *= 2) {
    const $or = Array.from({ length: patterns }, (_, n) => ({ text: { $regex: `x{${n + 1}}[^x]` } }));
    await ask('POST', '/long/_find', { selector: { kind: { $gt: 30 }, $or } });
    await go('/_utils/long/indexes');
  }
  assert.match(await slow.innerText(), /\$regex/);
  await photographed(page, 'slow');
  await isSound(page, 'slow queries');
  await slow.getByRole('button', { name: /^Make an index on kind/ }).first().click();
  await told('The index is being made.');
  await indexes().getByText('kind').first().waitFor();
  await go(`/_utils/long/query?find=${encodeURIComponent('{"selector": {"kind": 7}, "limit": 3}')}`);
  assert.match(await page.locator('.plan-picture').innerText(), /index/);
  assert.equal(await page.locator('.advice').count(), 0);
  assert.deepEqual(page.said, []);
});

test('indexes are made by choosing members, shown by their names, and dropped', async () => {
  const make = async (members, kind, more = {}) => {
    await go('/_utils/few/indexes');
    await page.getByText('New index').click();
    for (const [n, label] of ['Member', 'then'].entries()) await page.getByLabel(label, { exact: true }).first().fill(members[n] ?? '');
    await page.getByLabel('Kind').selectOption(kind);
    for (const [label, value] of Object.entries(more)) await page.getByLabel(label, { exact: true }).fill(value);
    await button('Make the index').click();
  };
  await ask('PUT', '/few');
  await ask('POST', '/few/_bulk_docs', { docs: Array.from({ length: 30 }, (_, n) => ({ kind: n % 10, n, text: `text ${n}` })) });
  await go('/_utils/few/indexes');
  const offered = await page.locator('#members option').evaluateAll((all) => all.map(({ value }) => value));
  assert.deepEqual(offered, ['kind', 'n', 'text']);
  await make(['kind'], 'unique');
  await page.getByRole('alert').getByText('403').waitFor();
  await make(['kind'], 'values', { 'Only documents with': 'n >' });
  await page.getByRole('alert').getByText('expected a value').waitFor();
  const row = (name) => indexes().getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) });
  for (const [members, kind, more, name, shown] of [
    [['n', 'kind'], 'values', { Name: 'by-n' }, 'by-n', /values[\s\S]*30\s+0\s+ready/],
    [['text'], 'words', { Name: 'texts' }, 'texts', /words/],
    [['n'], 'values', { 'Only documents with': 'kind = 7' }, 'n', /values, partial[\s\S]*\s3\s/],
  ]) {
    await make(members, kind, more);
    await told('The index is made.');
    assert.match(await row(name).innerText(), shown);
  }
  await ask('POST', '/few/_find', { selector: { n: 3, kind: 3 }, use_index: 'by-n' });
  await go('/_utils/few/indexes');
  assert.match(await row('by-n').innerText(), /30\s+1\s/);
  await photographed(page, 'indexes-made');
  await isSound(page, 'indexes');
  // Nothing on the page is a hash, and no link of it leads nowhere.
  assert.doesNotMatch(await page.locator('main').innerText(), /[0-9a-f]{12}|_mango/);
  for (const to of await page.locator('main a').evaluateAll((all) => all.map(({ href }) => href))) {
    assert.equal((await page.context().request.get(to)).status(), 200, to);
  }
  await row('texts').getByRole('button', { name: 'Drop' }).click();
  await told('The index was dropped.');
  assert.equal(await row('texts').count(), 0);
  const { indexes: all } = await ask('GET', '/few/_index');
  assert.ok(all.some(({ name }) => name === 'by-n') && !all.some(({ name }) => name === 'texts'));
  await ask('PUT', '/once');
  await ask('PUT', '/once/a', { email: 'a@b.c' });
  await ask('POST', '/_utils/once/indexes', { members: ['email'], kind: 'unique' });
  assert.match((await ask('PUT', '/once/b', { email: 'a@b.c' })).reason, /email/);
  page.said = [];
});

test('a design document is made, and its view is a page', async () => {
  await go('/_utils/long/indexes');
  await page.getByText('New design document').click();
  await written(page, 'JSON', JSON.stringify({ _id: '_design/own', views: { few: { map: 'function (doc) { if (doc.n < 2) emit(doc.n, doc.kind) }' } } }));
  await button('Create').last().click();
  await page.waitForURL('**/doc/_design%2Fown');
  await go('/_utils/long/indexes');
  await page.getByRole('region', { name: 'Design documents' }).getByRole('link', { name: 'few' }).click();
  await page.getByText('10 rows on this page.').waitFor();
  assert.deepEqual(page.said, []);
});

test('a server admin is made, logs in, and loses the right', async () => {
  await go('/_utils/-/users');
  await page.getByText('New server admin').click();
  const form = page.locator('details.new').filter({ hasText: 'New server admin' });
  await form.getByLabel('Name').fill('second');
  await form.getByLabel('Password').fill('pencil');
  await form.getByRole('button', { name: 'Create' }).click();
  await told('The admin was made.');
  const other = await browsing.loggedIn({}, 'second', 'pencil');
  assert.equal((await other.goto(`${http}/_utils/-/settings`)).status(), 200);
  const row = page.getByRole('region', { name: 'Server admins' }).getByRole('row').filter({ hasText: 'second' });
  await row.getByText('Change').click();
  await row.getByRole('button', { name: 'Take the right away' }).click();
  await page.waitForFunction(() => !document.body.innerText.includes('second'));
  assert.ok([401, 403].includes((await other.goto(`${http}/_utils/-/settings`)).status()));
  await other.context().close();
  assert.deepEqual(page.said, []);
});

test('a schema is taken away, and a database is dropped by whoever types its name', async () => {
  await ask('PUT', '/long/_schema', { properties: { n: { type: 'integer' } } });
  await go('/_utils/long/security');
  await page.getByText('What documents have to be like').click();
  await button('Take the schema away').click();
  await told('Documents may be as they like.');
  assert.equal((await ask('PUT', '/long/free', { n: 'text' })).ok, true);
  await page.getByText('Drop this database').click();
  await page.getByLabel('Type its name').fill('other');
  await button('Drop it').click();
  await page.getByRole('alert').getByText('Type long to do this.').waitFor();
  await photographed(page, 'drop');
  await isSound(page, 'before a database is dropped');
  await page.getByLabel('Type its name').fill('long');
  await button('Drop it').click();
  await page.waitForURL('**/_utils/');
  await told('The database was dropped.');
  assert.equal((await ask('GET', '/long')).error, 'not_found');
  assert.deepEqual(page.said, []);
});
