// A branch of a database, to PouchDB: a database like any other. It syncs both ways, and main is as it was until a merge.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { join } from 'node:path';
import PouchDB from 'pouchdb';
import { Server } from './server.js';

let server;
before(async () => { server = await new Server().start(); });
after(() => server.end());

async function asked(method, path, body) {
  const url = new URL(path, server.url);
  const headers = { 'content-type': 'application/json', authorization: `Basic ${btoa('adm:pass')}` };
  url.username = url.password = '';
  const answer = await fetch(url, { method, headers, body: body && JSON.stringify(body) });
  return [answer.status, await answer.json()];
}

test('PouchDB syncs with a branch, live too, and the merge brings it to main', async () => {
  const main = new PouchDB(`${server.url}/orders`);
  await main.bulkDocs([{ _id: '1', price: 9, name: 'pizza' }, { _id: '2', price: 5, name: 'soup' }]);
  assert.equal((await asked('POST', '/_branches', { name: 'idea' }))[0], 201);
  const branch = new PouchDB(`${server.url}/orders@idea`);
  assert.equal((await branch.info()).doc_count, 2);
  const local = new PouchDB(join(server.dir, 'local'));
  await local.sync(branch);
  assert.equal((await local.get('1')).price, 9);
  const live = local.sync(branch, { live: true, retry: true });
  const arrived = new Promise((resolve) => branch.changes({ since: 'now', live: true }).on('change', resolve));
  await local.put({ ...(await local.get('1')), price: 12, _attachments: { bill: { content_type: 'text/plain', data: btoa('one') } } });
  await arrived;
  const back = new Promise((resolve) => local.changes({ since: 'now', live: true }).on('change', resolve));
  await branch.put({ _id: '3', price: 1 });
  assert.equal((await back).id, '3');
  live.cancel();
  assert.equal((await main.get('1')).price, 9);
  await assert.rejects(main.get('3'));
  await main.put({ ...(await main.get('1')), name: 'pizza hawaii' });
  const [, difference] = await asked('GET', '/_diff?from=main&to=idea');
  assert.deepEqual(difference.differences.map(({ id }) => id), ['1', '3']);
  const [, dry] = await asked('POST', '/_merge', { from: 'idea', dry_run: true });
  assert.deepEqual([dry.taken, dry.combined, dry.seq], [1, 1, null]);
  const [status, merged] = await asked('POST', '/_merge', { from: 'idea' });
  assert.deepEqual([status, merged.taken, merged.combined, merged.conflicted], [200, 1, 1, 0]);
  const one = await main.get('1', { attachments: true, conflicts: true });
  assert.deepEqual([one.price, one.name, atob(one._attachments.bill.data), one._conflicts], [12, 'pizza hawaii', 'one', undefined]);
  // A replica of main, which follows it, and the replica of the branch agree after the other way round.
  assert.equal((await asked('POST', '/_merge', { from: 'main', into: 'idea' }))[0], 200);
  await local.sync(branch);
  assert.equal((await local.get('1'))._rev, one._rev);
  assert.equal((await asked('DELETE', '/_branches/idea'))[0], 200);
  await assert.rejects(branch.get('1'), { status: 404 });
});
