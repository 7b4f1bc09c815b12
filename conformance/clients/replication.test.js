// PouchDB as a third replica beside two servers that replicate to each other by themselves.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { join } from 'node:path';
import PouchDB from 'pouchdb';
import { Server } from './server.js';

let one, other;
let nth = 0;
before(async () => { [one, other] = await Promise.all([new Server().start(), new Server().start()]); });
after(() => Promise.all([one.end(), other.end()]));

const local = () => new PouchDB(join(one.dir, `pouch-${nth++}`));

async function post(server, path, body) {
  const headers = { 'content-type': 'application/json', authorization: `Basic ${btoa('adm:pass')}` };
  const answer = await fetch(`http://${server.listen}/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: answer.status, ...(await answer.json()) };
}

async function told(db) {
  const { rows } = await db.allDocs({ conflicts: true, include_docs: true, attachments: true });
  return rows.map(({ doc }) => {
    const bytes = Object.entries(doc._attachments ?? {}).map(([name, { data }]) => [name, data]);
    return JSON.stringify([doc._id, doc._rev, [...(doc._conflicts ?? [])].sort(), doc.by, bytes]);
  });
}

test('what PouchDB writes reaches another PouchDB through two servers, and all four agree', async () => {
  const [left, right] = [local(), local()];
  const [near, far] = [one, other].map((server) => new PouchDB(`${server.url}/third`));
  await Promise.all([near.info(), far.info()]);
  const attachment = { content_type: 'text/plain', data: Buffer.from('words '.repeat(100_000)).toString('base64') };
  await left.bulkDocs(Array.from({ length: 300 }, (_, n) => ({ _id: `d${n}`, by: 'left' })));
  await left.put({ _id: 'long', by: 'left', _attachments: { 'long.txt': attachment } });
  await right.bulkDocs([{ _id: 'd1', by: 'right' }, { _id: 'only', by: 'right' }]);
  for (let round = 0; round < 2; round++) {
    await left.sync(near);
    await right.sync(far);
    for (const [source, target] of [['third', `${other.url}/third`], [`${other.url}/third`, 'third']]) {
      const answer = await post(one, '_replicate', { source, target });
      assert.equal(answer.status, 200, JSON.stringify(answer));
      assert.equal(answer.doc_write_failures, 0);
    }
  }
  await left.sync(near);
  await right.sync(far);
  const expected = await told(left);
  assert.equal(expected.length, 302);
  for (const db of [right, near, far]) assert.deepEqual(await told(db), expected);
  assert.equal((await right.get('d1', { conflicts: true }))._conflicts.length, 1);
});

test('a live replication between the servers brings what PouchDB writes and deletes', async () => {
  const [near, far] = [one, other].map((server) => new PouchDB(`${server.url}/live`));
  await Promise.all([near.info(), far.info()]);
  const job = { source: 'live', target: `${other.url}/live`, continuous: true };
  assert.equal((await post(one, '_replicate', job)).status, 202);
  const left = local();
  await left.put({ _id: 'a', by: 'left' });
  await left.sync(near);
  const seen = (wanted) => new Promise((resolve, reject) => {
    const feed = far.changes({ live: true, since: 0, style: 'all_docs' });
    const giveUp = setTimeout(() => { feed.cancel(); reject(new Error('it did not come')); }, 30_000);
    feed.on('change', (change) => { if (wanted(change)) { clearTimeout(giveUp); feed.cancel(); resolve(change); } });
  });
  await seen(({ id }) => id === 'a');
  await left.remove(await left.get('a'));
  await left.sync(near);
  await seen(({ id, deleted }) => id === 'a' && deleted);
  assert.equal((await post(one, '_replicate', { ...job, cancel: true })).status, 200);
});

test('a replication with a filter function begins anew when the function has changed', async () => {
  const [near, far] = [one, other].map((server) => new PouchDB(`${server.url}/filtered`));
  await Promise.all([near.info(), far.info()]);
  await near.bulkDocs([{ _id: 'a', n: 1 }, { _id: 'b', n: 2 }]);
  const job = { source: `${one.url}/filtered`, target: `${other.url}/filtered`, filter: 'f/some' };
  const write = async (code) => {
    const before = await near.get('_design/f').catch(() => ({ _id: '_design/f' }));
    await near.put({ ...before, filters: { some: code } });
  };
  const copied = async () => {
    const answer = await post(other, '_replicate', job);
    assert.equal(answer.status, 200, JSON.stringify(answer));
    return [answer.history.length, (await far.allDocs()).rows.map((row) => row.id)];
  };
  await write('function (doc) { return doc.n === 1; }');
  assert.deepEqual(await copied(), [1, ['a']]);
  await near.put({ _id: 'c', n: 1 });
  assert.deepEqual(await copied(), [2, ['a', 'c']]);
  await write('function (doc) { return doc.n > 0; }');
  assert.deepEqual(await copied(), [1, ['a', 'b', 'c']]);
});
