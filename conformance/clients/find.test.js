// Mango: PouchDB's find plugin and nano, against the server and beside the plugin's own answers on a local database.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { join } from 'node:path';
import nano from 'nano';
import PouchDB from 'pouchdb';
import find from 'pouchdb-find';
import { Server } from './server.js';

PouchDB.plugin(find);
let server;
before(async () => { server = await new Server().start(); });
after(() => server.end());

const orders = Array.from({ length: 60 }, (_, n) => ({
  _id: `o${String(n).padStart(2, '0')}`,
  state: ['open', 'paid', 'sent'][n % 3],
  total: (n * 7) % 50,
  tags: n % 4 ? ['a', `t${n % 5}`] : [],
  items: [{ sku: `s${n % 6}`, n: n % 3 }],
  ...(n % 2 ? { note: `note ${n}` } : {}),
}));

const selectors = [
  { state: 'open' },
  { state: { $in: ['open', 'sent'] }, total: { $gte: 20, $lt: 40 } },
  { $or: [{ state: 'paid' }, { total: { $gt: 45 } }] },
  { $nor: [{ state: 'paid' }, { total: { $lt: 10 } }] },
  { $not: { total: { $gt: 5 } } },
  { note: { $exists: false }, total: { $mod: [2, 0] } },
  { tags: { $all: ['a', 't1'] } },
  { tags: { $size: 0 } },
  { items: { $elemMatch: { sku: 's2', n: { $gte: 1 } } } },
  { note: { $regex: '^note 1' } },
  { _id: { $gt: 'o50' } },
];

test('the find plugin gets from the server what it finds by itself', async () => {
  const [local, remote] = [new PouchDB(join(server.dir, 'find-local')), new PouchDB(`${server.url}/find`)];
  for (const db of [local, remote]) {
    await db.bulkDocs(orders);
    const made = await db.createIndex({ index: { fields: ['state', 'total'], ddoc: 'by', name: 'state-total' } });
    assert.equal(made.result, 'created');
    await db.createIndex({ index: { fields: ['total'] } });
  }
  const again = await remote.createIndex({ index: { fields: ['state', 'total'], ddoc: 'by', name: 'state-total' } });
  assert.equal(again.result, 'exists');
  const listed = await remote.getIndexes();
  assert.deepEqual(listed.indexes.map(({ type }) => type), ['special', 'json', 'json']);
  for (const selector of selectors) {
    const found = await Promise.all([local, remote].map((db) => db.find({ selector, limit: 100 })));
    const [mine, theirs] = found.map(({ docs }) => docs.map(({ _id }) => _id).sort());
    assert.ok(mine.length > 0, JSON.stringify(selector));
    assert.deepEqual(theirs, mine, JSON.stringify(selector));
  }
  const asked = { selector: { state: 'open', total: { $gt: null } }, sort: [{ state: 'desc' }, { total: 'desc' }], fields: ['_id', 'total'], limit: 7 };
  const [mine, theirs] = await Promise.all([local, remote].map((db) => db.find(asked)));
  assert.deepEqual(theirs.docs, mine.docs);
  const told = await remote.explain({ selector: { state: 'open', total: { $gt: 3 } } });
  assert.deepEqual([told.index.ddoc, told.index.name], ['_design/by', 'state-total']);
  await remote.deleteIndex(listed.indexes[1]);
  assert.equal((await remote.getIndexes()).total_rows, 2);
  await assert.rejects(remote.find({ selector: { state: 'open' }, sort: ['customer'] }), { error: 'no_usable_index' });
});

test('an index that was replicated is used', async () => {
  const [local, remote] = [new PouchDB(join(server.dir, 'find-from')), new PouchDB(`${server.url}/find-to`)];
  await local.bulkDocs(orders);
  await local.createIndex({ index: { fields: ['total'], ddoc: 'replicated' } });
  await local.replicate.to(remote);
  const found = await remote.find({ selector: { total: { $gt: 40 } }, use_index: 'replicated', limit: 100 });
  assert.equal(found.warning, undefined);
  assert.deepEqual(found.docs.map(({ total }) => total), orders.map(({ total }) => total).filter((total) => total > 40).sort((a, b) => a - b));
});

test('nano pages through what it finds, and sees the past', async () => {
  const couch = nano(server.url);
  await couch.db.create('nano-find');
  const db = couch.use('nano-find');
  await db.bulk({ docs: orders });
  await db.createIndex({ index: { fields: ['total'] }, name: 'total' });
  const seen = [];
  let bookmark;
  for (;;) {
    const page = await db.find({ selector: { total: { $gte: 0 } }, sort: [{ total: 'asc' }], fields: ['total'], limit: 13, bookmark });
    if (page.docs.length === 0) break;
    seen.push(...page.docs.map(({ total }) => total));
    ({ bookmark } = page);
  }
  assert.deepEqual(seen, orders.map(({ total }) => total).sort((a, b) => a - b));
  const { update_seq: then } = await db.info();
  await db.bulk({ docs: (await db.list()).rows.filter(({ id }) => id.startsWith('o')).map(({ id, value }) => ({ _id: id, _rev: value.rev, _deleted: true })) });
  const ask = (path, body, qs) => couch.request({ db: 'nano-find', path, method: 'post', body, qs });
  assert.equal((await ask('_find', { selector: { total: { $gte: 0 } } })).docs.length, 0);
  assert.equal((await ask('_find', { selector: { total: { $gte: 0 } }, limit: 100 }, { at: then })).docs.length, 60);
});

test('aggregation, and writing by query', async () => {
  const couch = nano(server.url);
  await couch.db.create('by-query');
  await couch.use('by-query').bulk({ docs: orders });
  const ask = (path, body) => couch.request({ db: 'by-query', path, method: 'post', body });
  const group = { $group: { _id: '$state', n: { $sum: 1 }, total: { $sum: '$total' } } };
  const { rows } = await ask('_aggregate', { pipeline: [group, { $sort: { _id: 1 } }] });
  const sum = (state) => orders.filter((order) => order.state === state).reduce((all, { total }) => all + total, 0);
  assert.deepEqual(rows, ['open', 'paid', 'sent'].map((state) => ({ _id: state, n: 20, total: sum(state) })));
  const selector = { state: 'open' };
  const dry = await ask('_update_by_query', { selector, merge: { seen: true }, dry_run: true });
  assert.deepEqual([dry.matched, dry.written], [20, 0]);
  const done = await ask('_update_by_query', { selector, merge: { seen: true } });
  assert.deepEqual([done.matched, done.written, done.left], [20, 20, []]);
  assert.equal((await ask('_update_by_query', { selector, merge: { seen: true } })).unchanged, 20);
  assert.equal((await ask('_delete_by_query', { selector: { seen: true } })).written, 20);
  assert.equal((await ask('_find', { selector: { seen: true } })).docs.length, 0);
  await assert.rejects(ask('_delete_by_query', {}), { statusCode: 400, error: 'missing_required_key' });
  for (const path of ['_update_by_query?at=1', '_delete_by_query?at=2h']) {
    await assert.rejects(ask(path, { selector: {}, merge: {} }), { statusCode: 400, error: 'bad_request' }, path);
  }
});

test('words are marked in what is found, and alternatives of words go by their indexes', async () => {
  const couch = nano(server.url);
  await couch.db.create('words');
  const db = couch.use('words');
  const notes = Array.from({ length: 300 }, (_, n) => ({ _id: `n${n}`, title: `note ${n}`, text: n % 50 ? 'cold rice' : `hot soups ${n}` }));
  await db.bulk({ docs: [...notes, { _id: 'tea', title: 'Green tea', text: 'no food' }] });
  const ask = (path, body) => couch.request({ db: 'words', path, method: 'post', body });
  for (const field of ['title', 'text']) {
    await ask('_index', { type: 'text', index: { fields: [field], language: 'english' }, ddoc: 'd', name: field });
  }
  const words = (text) => ({ $text: { $search: text, $language: 'english' } });
  const selector = { $or: [{ text: words('soup') }, { title: words('tea') }] };
  const { docs } = await ask('_find', { selector, highlight: { before: '[', after: ']' }, fields: ['_id'] });
  assert.equal(docs.length, 7);
  const of = Object.fromEntries(docs.map((doc) => [doc._id, doc._highlights]));
  assert.deepEqual([of.n50, of.tea], [{ text: ['hot [soups] 50'] }, { title: ['Green [tea]'] }]);
  const { plan } = await ask('_explain', { selector });
  assert.deepEqual(plan.union.map(({ words }) => words).sort(), ['soup', 'tea'], JSON.stringify(plan));
  const [first] = (await ask('_find', { selector: { text: words('hot') }, highlight: true, limit: 1 })).docs;
  assert.match(first._highlights.text[0], /^<em>hot<\/em> soups/);
  for (const highlight of [7, { before: 1 }, { chars: 5 }, { other: true }]) {
    await assert.rejects(ask('_find', { selector, highlight }), { statusCode: 400, error: 'bad_arg' });
  }
});
