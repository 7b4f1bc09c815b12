// PouchDB: replication both ways, with conflicts and attachments, and through a server that dies.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { join } from 'node:path';
import PouchDB from 'pouchdb';
import { Server } from './server.js';

let server;
let nth = 0;
before(async () => { server = await new Server().start(); });
after(() => server.end());

const local = () => new PouchDB(join(server.dir, `pouch-${nth++}`));
const remote = (name) => new PouchDB(`${server.url}/${name}`);
const ids = (count, prefix = 'd') => Array.from({ length: count }, (_, i) => `${prefix}${String(i).padStart(6, '0')}`);

async function same(one, other, count) {
  const [a, b] = await Promise.all([one, other].map((db) => db.allDocs({ conflicts: true, include_docs: true })));
  assert.equal(a.rows.length, count);
  const told = (list) => list.rows.map(({ doc }) => JSON.stringify([doc._id, doc._rev, [...(doc._conflicts ?? [])].sort()]));
  assert.deepEqual(told(a), told(b));
}

test('10,000 documents go to the server and from there to another replica', async () => {
  const [one, middle, other] = [local(), remote('many'), local()];
  await one.bulkDocs(ids(10_000).map((_id, n) => ({ _id, n, text: 'some words of a document' })));
  const up = await one.replicate.to(middle, { batch_size: 1000 });
  assert.equal(up.docs_written, 10_000);
  const down = await other.replicate.from(middle, { batch_size: 1000 });
  assert.equal(down.docs_written, 10_000);
  await same(one, other, 10_000);
  const again = await one.replicate.to(middle);
  assert.equal(again.docs_written, 0);
});

test('replicas that write the same documents agree on winners and conflicts', async () => {
  const [one, middle, other] = [local(), remote('conflicts'), local()];
  await one.bulkDocs(ids(50).map((_id) => ({ _id, by: 'one' })));
  await other.bulkDocs(ids(50).map((_id) => ({ _id, by: 'other' })));
  await one.sync(middle);
  await other.sync(middle);
  await one.sync(middle);
  await same(one, middle, 50);
  await same(other, middle, 50);
  const doc = await middle.get(ids(1)[0], { conflicts: true });
  assert.equal(doc._conflicts.length, 1);
  await middle.remove(doc._id, doc._conflicts[0]);
  await one.sync(middle);
  assert.equal((await one.get(doc._id, { conflicts: true }))._conflicts, undefined);
});

test('a long history and conflicts whose revisions are no hashes are replicated', async () => {
  const [one, middle, other] = [local(), remote('old'), local()];
  const start = 3000;
  const past = Array.from({ length: start - 1 }, (_, n) => (start - n).toString(16).padStart(32, '0'));
  const leaf = (name, n) => ({ _id: 'doc', n, _rev: `${start}-${name}`, _revisions: { start, ids: [name, ...past] } });
  const longer = (letter) => letter + 'f'.repeat(32);
  await middle.bulkDocs([leaf(longer('a'), 1)], { new_edits: false });
  await one.replicate.from(middle);
  await middle.bulkDocs([leaf(longer('b'), 2), leaf('short', 3)], { new_edits: false });
  await one.replicate.from(middle);
  await other.sync(middle);
  await same(one, middle, 1);
  await same(other, middle, 1);
  const doc = await middle.get('doc', { conflicts: true });
  assert.deepEqual([doc._rev, doc.n, doc._conflicts.length], [`${start}-short`, 3, 2]);
  const asked = await middle.get('doc', { open_revs: [`${start}-${longer('a')}`], revs: true });
  assert.equal(asked[0].ok.n, 1);
});

test('a live sync carries writes of both sides, and ends', async () => {
  const [one, other] = [local(), remote('live')];
  await other.info();
  const seen = { one: new Set(), other: new Set() };
  const done = new Promise((resolve, reject) => {
    const check = () => seen.one.size === 20 && seen.other.size === 20 && resolve();
    const watch = (db, set, prefix) => db.changes({ live: true, since: 0 })
      .on('change', ({ id }) => { if (id.startsWith(prefix)) { set.add(id); check(); } }).on('error', reject);
    watch(one, seen.one, 'theirs');
    watch(other, seen.other, 'ours');
  });
  const sync = one.sync(other, { live: true, retry: true });
  for (const n of ids(20, '')) {
    await one.put({ _id: `ours${n}` });
    await other.put({ _id: `theirs${n}` });
  }
  await done;
  const ended = new Promise((resolve) => sync.on('complete', resolve));
  sync.cancel();
  await ended;
  await same(one, other, 40);
  one.removeAllListeners();
});

test('attachments go both ways, byte for byte, and as stubs where nothing changed', async () => {
  const [one, middle, other] = [local(), remote('attached'), local()];
  const big = Buffer.alloc(1_500_000, 0).map((_, i) => (i * 7919) >> 3);
  await one.put({ _id: 'a', _attachments: {
    'text.txt': { content_type: 'text/plain', data: Buffer.from('words '.repeat(1000)) },
    'dir/big.bin': { content_type: 'application/octet-stream', data: big },
    empty: { content_type: 'text/plain', data: Buffer.alloc(0) },
  } });
  await one.replicate.to(middle);
  const doc = await middle.get('a');
  assert.deepEqual(Object.keys(doc._attachments).sort(), ['dir/big.bin', 'empty', 'text.txt']);
  assert.equal(doc._attachments['dir/big.bin'].length, big.length);
  assert.ok((await middle.getAttachment('a', 'dir/big.bin')).equals(big));
  await middle.put({ ...doc, changed: true });
  await other.replicate.from(middle);
  await one.replicate.from(middle);
  for (const db of [one, other]) {
    assert.ok((await db.getAttachment('a', 'dir/big.bin')).equals(big));
    assert.equal(String(await db.getAttachment('a', 'text.txt')), 'words '.repeat(1000));
    assert.equal((await db.getAttachment('a', 'empty')).length, 0);
    assert.equal((await db.get('a')).changed, true);
  }
  const put = await middle.putAttachment('a', 'more', (await middle.get('a'))._rev, Buffer.from([1, 2, 3]), 'image/png');
  await middle.removeAttachment('a', 'text.txt', put.rev);
  await other.replicate.from(middle);
  assert.deepEqual(Object.keys((await other.get('a'))._attachments).sort(), ['dir/big.bin', 'empty', 'more']);
  const inline = await middle.get('a', { attachments: true });
  assert.equal(inline._attachments.more.data, 'AQID');
});

test('a sync goes on where a killed server left it, without loss or duplicates', async () => {
  const [one, other] = [local(), local()];
  const count = 4000;
  await one.bulkDocs(ids(count).map((_id, n) => ({ _id, n })));
  let kills = 0;
  for (let attempts = 0; ; attempts += 1) {
    assert.ok(attempts < 20, 'the replication does not come to an end');
    const replication = one.replicate.to(remote('killed'), { batch_size: 200 });
    let killed;
    replication.on('change', ({ docs_written }) => {
      // In the midst of the next batch.
      if (kills < 3 && docs_written >= 400 && !killed) { kills += 1; killed = server.kill(); }
    });
    const failed = await replication.then(() => false, () => true);
    if (killed) {
      await killed;
      await server.start();
    }
    if (!failed && !killed) break;
  }
  assert.equal(kills, 3);
  await same(one, remote('killed'), count);
  const changes = await remote('killed').changes({ since: 0 });
  assert.equal(changes.results.length, count);
  assert.equal(new Set(changes.results.map(({ id }) => id)).size, count);
  assert.ok(changes.results.every(({ changes }) => changes[0].rev.startsWith('1-')), 'a document was written twice');
  await other.replicate.from(remote('killed'));
  await same(one, other, count);
});
