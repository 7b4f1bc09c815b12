// nano, Apache CouchDB's own client for Node: databases, documents, bulk writes, attachments, changes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import nano from 'nano';
import { Server } from './server.js';

let server, couch;
before(async () => { server = await new Server().start(); couch = nano(server.url); });
after(() => server.end());

async function fresh(name) {
  await couch.db.create(name);
  return couch.use(name);
}

test('databases are made, listed, described and dropped', async () => {
  await fresh('made');
  assert.ok((await couch.db.list()).includes('made'));
  assert.equal((await couch.db.get('made')).db_name, 'made');
  await assert.rejects(couch.db.create('made'), { statusCode: 412, error: 'file_exists' });
  await couch.db.destroy('made');
  await assert.rejects(couch.db.get('made'), { statusCode: 404, error: 'not_found' });
});

test('a document is inserted, read, changed, copied and deleted', async () => {
  const db = await fresh('crud');
  const first = await db.insert({ n: 1 }, 'a');
  assert.equal(first.ok, true);
  assert.deepEqual(await db.get('a'), { _id: 'a', _rev: first.rev, n: 1 });
  const second = await db.insert({ _rev: first.rev, n: 2 }, 'a');
  await assert.rejects(db.insert({ _rev: first.rev, n: 3 }, 'a'), { statusCode: 409, error: 'conflict' });
  assert.equal((await db.head('a')).etag, `"${second.rev}"`);
  assert.equal((await db.get('a', { rev: first.rev })).n, 1);
  assert.equal((await db.get('a', { revs_info: true }))._revs_info.length, 2);
  await db.destroy('a', second.rev);
  await assert.rejects(db.get('a'), { statusCode: 404, reason: 'deleted' });
  const made = await db.insert({ without: 'an id' });
  assert.match(made.id, /^[0-9a-f]{32}$/);
});

test('many documents are written, listed and fetched', async () => {
  const db = await fresh('bulk');
  const docs = Array.from({ length: 500 }, (_, n) => ({ _id: `d${String(n).padStart(4, '0')}`, n }));
  const rows = await db.bulk({ docs });
  assert.ok(rows.length === 500 && rows.every((row) => row.ok));
  assert.equal((await db.bulk({ docs: docs.slice(0, 2) }))[0].error, 'conflict');
  const list = await db.list({ include_docs: true, startkey: 'd0100', limit: 10 });
  assert.deepEqual(list.rows.map(({ doc }) => doc.n), [100, 101, 102, 103, 104, 105, 106, 107, 108, 109]);
  assert.equal(list.total_rows, 500);
  const fetched = await db.fetch({ keys: ['d0007', 'none'] });
  assert.deepEqual([fetched.rows[0].doc.n, fetched.rows[1].error], [7, 'not_found']);
});

test('changes are read in pages, and followed', async () => {
  const db = await fresh('changes');
  await db.bulk({ docs: Array.from({ length: 30 }, (_, n) => ({ _id: `d${n}` })) });
  const page = await db.changes({ limit: 10 });
  assert.equal(page.results.length, 10);
  const rest = await db.changes({ since: page.last_seq });
  assert.equal(rest.results.length, 20);
  const seen = new Promise((resolve, reject) => {
    db.changesReader.start({ since: rest.last_seq, timeout: 10_000 })
      .on('change', (change) => resolve(change.id)).on('error', reject);
  });
  await db.insert({}, 'later');
  assert.equal(await seen, 'later');
  db.changesReader.stop();
});

test('attachments are put, streamed and sent as multipart', async () => {
  const db = await fresh('attached');
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, n) => (n * 31) & 255));
  const put = await db.attachment.insert('a', 'x.bin', bytes, 'application/octet-stream');
  assert.ok((await db.attachment.get('a', 'x.bin')).equals(bytes));
  await db.attachment.destroy('a', 'x.bin', { rev: put.rev });
  await assert.rejects(db.attachment.get('a', 'x.bin'), { statusCode: 404 });
  const files = [
    { name: 'one.txt', data: 'first '.repeat(50), content_type: 'text/plain' },
    { name: 'two.bin', data: bytes, content_type: 'application/octet-stream' },
  ];
  await db.multipart.insert({ n: 1 }, files, 'm');
  assert.equal((await db.get('m')).n, 1);
  assert.equal(String(await db.attachment.get('m', 'one.txt')), 'first '.repeat(50));
  assert.ok((await db.attachment.get('m', 'two.bin')).equals(bytes));
  const parts = await db.multipart.get('m');
  assert.ok(parts.includes(bytes) && parts.includes('first first'));
});
