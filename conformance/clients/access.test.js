// Access rules, with PouchDB on both sides: what leaves a user's set goes from their replicas, comes back when it may,
// and never deletes a document, whatever was edited meanwhile.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { join } from 'node:path';
import PouchDB from 'pouchdb';
import find from 'pouchdb-find';
import { Server } from './server.js';

PouchDB.plugin(find);
let server;
let nth = 0;
before(async () => {
  server = await new Server().start();
  for (const name of ['ada', 'bob']) await user(name, []);
});
after(() => server.end());

const local = () => new PouchDB(join(server.dir, `pouch-${nth++}`));
const remote = (who, db) => new PouchDB(`http://${who}@${server.listen}/${db}`, { skip_setup: true });

async function ask(method, path, body) {
  const headers = { 'content-type': 'application/json', authorization: `Basic ${btoa('adm:pass')}` };
  const answer = await fetch(`http://${server.listen}/${path}`, { method, headers, body: body && JSON.stringify(body) });
  return { status: answer.status, ...(await answer.json()) };
}

async function user(name, roles) {
  const path = `_users/org.couchdb.user:${name}`;
  const before = await ask('GET', path);
  const made = await ask('PUT', path, { name, password: 'pencil', type: 'user', roles, _rev: before._rev });
  assert.equal(made.ok, true, JSON.stringify(made));
}

async function database(name) {
  await ask('PUT', name);
  await ask('PUT', `${name}/_security`, { admins: { names: [], roles: ['_admin'] }, members: { names: [], roles: [] } });
  const rule = { read: { $or: [{ owner: '$user.name' }, { team: { $in: '$user.roles' } }] } };
  assert.equal((await ask('PUT', `${name}/_access`, rule)).status, 200);
  const admin = new PouchDB(`${server.url}/${name}`);
  const change = async (id, members) => {
    const doc = await admin.get(id).catch(() => ({ _id: id }));
    return admin.put({ ...doc, ...members });
  };
  return { admin, change, ada: remote('ada:pencil', name), bob: remote('bob:pencil', name) };
}

// In both directions, until nothing goes any more; answers how much the server refused.
async function sync(replica, db) {
  let failures = 0;
  for (let round = 0; round < 3; round++) {
    const pushed = await replica.replicate.to(db);
    const pulled = await replica.replicate.from(db);
    failures += pushed.doc_write_failures;
    assert.equal(pulled.doc_write_failures, 0);
  }
  return failures;
}

const ids = async (db) => (await db.allDocs()).rows.map(({ id }) => id);

// The documents that there are for admins, with what they say; none is deleted.
async function all(admin) {
  const { rows } = await admin.allDocs({ include_docs: true, conflicts: true });
  return Object.fromEntries(rows.map(({ doc }) => [doc._id, [doc.owner ?? doc.team, doc.n, doc._conflicts?.length ?? 0]]));
}

test('a replica has what its user may read, and pushes what they may write', async () => {
  const { admin, change, ada, bob } = await database('plain');
  await change('a', { owner: 'ada', n: 1 });
  await change('b', { owner: 'bob', n: 2 });
  await admin.put({ _id: 'with', owner: 'ada', _attachments: { 'a.txt': { content_type: 'text/plain', data: btoa('hello') } } });
  const [hers, his] = [local(), local()];
  await sync(hers, ada);
  await sync(his, bob);
  assert.deepEqual([await ids(hers), await ids(his)], [['a', 'with'], ['b']]);
  assert.equal((await hers.getAttachment('with', 'a.txt')).toString(), 'hello');
  await hers.put({ ...(await hers.get('a')), n: 3 });
  await hers.put({ _id: 'new', owner: 'ada', n: 4 });
  await hers.put({ _id: 'foreign', owner: 'bob', n: 5 });
  assert.ok(await sync(hers, ada) > 0);
  assert.deepEqual(await all(admin), { a: ['ada', 3, 0], b: ['bob', 2, 0], new: ['ada', 4, 0], with: ['ada', undefined, 0] });
  await hers.remove(await hers.get('new'));
  await sync(hers, ada);
  assert.deepEqual(await ids(admin), ['a', 'b', 'with']);
});

test('a document that is given away goes, and comes back, and is never deleted', async () => {
  const { admin, change, ada, bob } = await database('given');
  await change('a', { owner: 'ada', n: 1 });
  const [one, two, his] = [local(), local(), local()];
  for (const replica of [one, two]) await sync(replica, ada);
  await change('a', { owner: 'bob', n: 2 });
  // The second replica has an edit of its own, made before it hears of it.
  await two.put({ ...(await two.get('a')), n: 20 });
  await sync(one, ada);
  assert.deepEqual(await ids(one), []);
  assert.ok(await sync(two, ada) > 0, 'the edit is refused');
  await sync(his, bob);
  assert.equal((await his.get('a')).n, 2);
  assert.deepEqual(await all(admin), { a: ['bob', 2, 0] });
  // What one replica was told it tells another one, which tells the server.
  const third = local();
  await one.replicate.to(third);
  await sync(third, ada);
  assert.deepEqual(await all(admin), { a: ['bob', 2, 0] });
  await change('a', { owner: 'ada', n: 3 });
  for (const replica of [one, two, third]) await sync(replica, ada);
  for (const replica of [one, third]) assert.equal((await replica.get('a')).n, 3);
  await sync(his, bob);
  assert.deepEqual(await ids(his), []);
  assert.equal((await all(admin)).a[0], 'ada');
});

test('roles that come and go take documents along that nobody has touched', async () => {
  const { admin, change, ada } = await database('roles');
  await user('ada', ['blue']);
  await change('t', { team: 'blue', n: 1 });
  const [one, two] = [local(), local()];
  for (const replica of [one, two]) await sync(replica, ada);
  await user('ada', []);
  await sync(one, ada);
  assert.deepEqual(await ids(one), []);
  await user('ada', ['blue']);
  for (const replica of [one, two, local()]) {
    await sync(replica, ada);
    assert.equal((await replica.get('t')).n, 1);
  }
  // An edit of what came back is an edit of the document, for both.
  await one.put({ ...(await one.get('t')), n: 2 });
  assert.equal(await sync(one, ada), 0);
  await sync(two, ada);
  await sync(one, ada);
  assert.deepEqual(await all(admin), { t: ['blue', 2, 0] });
  for (const replica of [one, two]) {
    const doc = await replica.get('t', { conflicts: true });
    assert.deepEqual([doc.n, doc._conflicts], [2, undefined]);
  }
  // And by others.
  await change('t', { n: 3 });
  for (const replica of [one, two]) {
    await sync(replica, ada);
    const doc = await replica.get('t', { conflicts: true });
    assert.deepEqual([doc.n, doc._conflicts], [3, undefined]);
  }
});

test('conflicts of offline edits are told, resolved, given away and kept', async () => {
  const { admin, change, ada, bob } = await database('conflicts');
  await change('a', { owner: 'ada', n: 0 });
  const replicas = [local(), local()];
  for (const replica of replicas) await sync(replica, ada);
  for (const [number, replica] of replicas.entries()) await replica.put({ ...(await replica.get('a')), n: number + 1 });
  for (const replica of [...replicas, ...replicas]) await sync(replica, ada);
  for (const replica of replicas) assert.equal((await replica.get('a', { conflicts: true }))._conflicts.length, 1);
  assert.equal((await all(admin)).a[2], 1);
  // It is given away with its conflict: the winner is bob's, the other leaf is still hers.
  await change('a', { owner: 'bob', n: 9 });
  for (const replica of replicas) await sync(replica, ada);
  const his = local();
  await sync(his, bob);
  assert.equal((await his.get('a')).n, 9);
  const there = (await all(admin)).a;
  assert.deepEqual([there[0], there[1]], ['bob', 9]);
  for (const replica of replicas) {
    const doc = await replica.get('a', { conflicts: true });
    assert.deepEqual([doc.owner, doc._conflicts], ['ada', undefined], 'the leaf that is hers is left');
  }
});

// Until something is so, at most ten seconds.
async function until(what, holds) {
  for (let n = 0; n < 200; n++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`${what} did not come to be`);
}

test('a live replica hears of what comes and goes, by documents and by roles', async () => {
  const { change, ada } = await database('live');
  await user('ada', []);
  await change('a', { owner: 'ada', n: 1 });
  const hers = local();
  const live = hers.sync(ada, { live: true, retry: true });
  await until('a', async () => (await ids(hers)).join() === 'a');
  await change('b', { owner: 'bob', n: 1 });
  await change('c', { owner: 'ada', n: 1 });
  await until('c', async () => (await ids(hers)).join() === 'a,c');
  await change('a', { owner: 'bob' });
  await until('a is gone', async () => (await ids(hers)).join() === 'c');
  await change('t', { team: 'blue' });
  await user('ada', ['blue']);
  await until('t', async () => (await ids(hers)).join() === 'c,t');
  await user('ada', []);
  await until('t is gone', async () => (await ids(hers)).join() === 'c');
  await hers.put({ _id: 'own', owner: 'ada', n: 7 });
  await until('own', async () => (await ask('GET', 'live/own')).n === 7);
  live.cancel();
  const feed = await fetch(`http://${server.listen}/live/_changes?feed=continuous&timeout=100`, {
    headers: { authorization: `Basic ${btoa('ada:pencil')}` },
  });
  const lines = (await feed.text()).trim().split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(lines.slice(0, -1).map(({ id }) => id), ['c', 'own']);
  assert.ok(lines.at(-1).last_seq);
});

// Both forms of a rule: one that an index of access serves, and one that is tested document by document.
for (const [form, rule, reads] of [
  ['served', { owner: '$user.name' }, 'the index of access'],
  ['tested', { $nor: [{ owner: { $ne: '$user.name' } }, { owner: { $exists: false } }] }, 'every document'],
]) {
  test(`views and queries have what the rule lets through: ${form}`, async () => {
    const { admin, change, ada, bob } = await database(`views-${form}`);
    await ask('PUT', `views-${form}/_access`, { read: rule });
    await until('the index', async () => (await ask('GET', `views-${form}/_access?explain=true`)).reads === reads);
    for (let n = 0; n < 30; n++) await change(`d${n}`, { owner: n % 3 ? 'bob' : 'ada', n, link: 'd1', kind: n % 2 ? 'odd' : 'even' });
    const views = {
      kinds: { map: 'function (doc) { emit(doc.kind, doc.n); }', reduce: '_sum' },
      linked: { map: 'function (doc) { emit(doc.n, { _id: doc.link }); }' },
      slow: { map: 'function (doc) { for (var name in doc) if (name === "n") emit(doc.n, null); }', reduce: '_count' },
    };
    await admin.put({ _id: '_design/d', views });
    for (const [who, mine] of [[ada, (n) => n % 3 === 0], [bob, (n) => n % 3 !== 0]]) {
      const own = Array.from({ length: 30 }, (_, n) => n).filter(mine);
      const sum = (odd) => own.filter((n) => n % 2 === odd).reduce((a, b) => a + b, 0);
      const grouped = await who.query('d/kinds', { group: true });
      assert.deepEqual(grouped.rows, [{ key: 'even', value: sum(0) }, { key: 'odd', value: sum(1) }]);
      const rows = (await who.query('d/kinds', { reduce: false, key: 'odd', descending: true })).rows;
      assert.deepEqual(rows.map(({ value }) => value).sort((a, b) => a - b), own.filter((n) => n % 2));
      assert.equal((await who.query('d/slow')).rows[0].value, own.length);
      const slow = await who.query('d/slow', { reduce: false, include_docs: true, skip: 1, limit: 3 });
      assert.deepEqual(slow.rows.map(({ doc }) => doc.n), own.slice(1, 4));
      assert.equal(slow.total_rows ?? own.length, own.length);
      // What a row names is a document, too: it is shown if it may be read.
      const linked = (await who.query('d/linked', { include_docs: true })).rows;
      assert.deepEqual(linked.map(({ doc }) => doc?._id), own.map(() => (mine(1) ? 'd1' : undefined)));
      const found = await who.find({ selector: { n: { $gte: 10 } }, fields: ['n'], limit: 100 });
      assert.deepEqual(found.docs.map(({ n }) => n).sort((a, b) => a - b), own.filter((n) => n >= 10));
      const all = (await who.allDocs({ startkey: 'd1', endkey: 'd2' })).rows.map(({ id }) => id);
      assert.deepEqual(all, own.map((n) => `d${n}`).filter((id) => id >= 'd1' && id <= 'd2').sort());
    }
    const docs = await (await fetch(`http://${server.listen}/views-${form}/_design/d/_view/kinds?reduce=false&at=1`, {
      headers: { authorization: `Basic ${btoa('ada:pencil')}` },
    })).json();
    assert.equal(docs.error, 'forbidden', 'no past');
  });
}

test('rules that change are told like documents that do', async () => {
  const { admin, change, ada } = await database('rules');
  for (let n = 0; n < 250; n++) await change(`d${n}`, { owner: n % 2 ? 'ada' : 'bob', n });
  const hers = local();
  await sync(hers, ada);
  assert.equal((await ids(hers)).length, 125);
  await ask('PUT', 'rules/_access', { read: { n: { $lt: 10 } } });
  await sync(hers, ada);
  assert.equal((await ids(hers)).length, 10);
  await ask('PUT', 'rules/_access', { read: { owner: '$user.name' } });
  await sync(hers, ada);
  assert.equal((await ids(hers)).length, 125);
  assert.equal((await ids(admin)).length, 250);
});

// Replications that take a part of what their user may read: by ids, by a selector, by a function, by a view.
const functions = {
  filters: {
    even: 'function (doc, req) { return doc._deleted || doc.n % 2 === 0; }',
    below: 'function (doc, req) { return doc.n < Number(req.query.most); }',
    // It sees nothing of the database but its name.
    sees: 'function (doc, req) { return req.info.doc_count === undefined && JSON.stringify(req.secObj) === "{}"; }',
  },
  views: { even: { map: 'function (doc) { if (doc.n % 2 === 0) emit(doc.n, 1); }', reduce: '_count' } },
  shows: { own: 'function (doc, req) { return { json: { doc: doc && doc.n, count: req.info.doc_count, sec: req.secObj } }; }' },
  lists: {
    own: `function (head, req) {
      var row, rows = [];
      while ((row = getRow())) rows.push(row.value);
      return JSON.stringify({ total: head.total_rows, rows: rows, count: req.info.doc_count, sec: req.secObj });
    }`,
  },
  updates: {
    bump: 'function (doc, req) { if (!doc) return [{ _id: req.id, owner: req.query.owner, n: 0 }, "new"]; doc.n += 10; return [doc, "bumped"]; }',
    give: 'function (doc, req) { if (!doc) return [null, "none"]; doc.owner = "bob"; return [doc, "given"]; }',
  },
};

for (const [name, options, passes, misses] of [
  ['ids', { doc_ids: ['d0', 'd1', 'd2', 'd4', 'd6', 'd9'] }, ['d0', 'd2', 'd4', 'd6'], false],
  ['selector', { selector: { n: { $mod: [2, 0] } } }, ['d0', 'd2', 'd4', 'd6'], true],
  ['function', { filter: 'by/even' }, ['d0', 'd2', 'd4', 'd6'], true],
  ['parameters', { filter: 'by/below', query_params: { most: 5 } }, ['d0', 'd2', 'd3', 'd4'], true],
  ['view', { filter: '_view', view: 'by/even' }, ['d0', 'd2', 'd4', 'd6'], true],
  ['sight', { filter: 'by/sees' }, ['_design/by', 'd0', 'd2', 'd3', 'd4', 'd6'], true],
]) {
  test(`a replication with a filter is told what leaves: ${name}`, async () => {
    const { admin, change, ada } = await database(`filter-${name}`);
    await admin.put({ _id: '_design/by', ...functions });
    // d1 and d5 are hidden, and d9 is not there yet.
    for (let n = 0; n < 7; n++) await change(`d${n}`, { owner: [1, 5].includes(n) ? 'bob' : 'ada', n });
    const hers = local();
    const pull = async () => assert.equal((await hers.replicate.from(ada, options)).doc_write_failures, 0);
    await pull();
    assert.deepEqual(await ids(hers), passes);
    // It says something now that does not pass: like CouchDB, the replica keeps what it had.
    await change('d4', { n: 99 });
    await pull();
    if (misses && name !== 'sight') assert.equal((await hers.get('d4')).n, 4);
    // What leaves is gone, also if it does not pass any more; what comes, comes.
    await change('d4', { owner: 'bob' });
    await change('d2', { owner: 'bob', n: 77 });
    await change('d1', { owner: 'ada', n: 2 });
    await pull();
    const left = [...new Set([...passes, 'd1'])].filter((id) => !['d2', 'd4'].includes(id)).sort();
    assert.deepEqual(await ids(hers), left);
    // It comes back, and an edit of the replica is one of the document; nothing was deleted.
    await change('d2', { owner: 'ada', n: 2 });
    await pull();
    assert.equal((await hers.get('d2')).n, 2);
    await hers.put({ ...(await hers.get('d2')), n: 4 });
    await hers.replicate.to(ada);
    assert.equal((await admin.get('d2')).n, 4);
    const there = await all(admin);
    delete there['_design/by'];
    assert.deepEqual(Object.keys(there), ['d0', 'd1', 'd2', 'd3', 'd4', 'd5', 'd6']);
    assert.ok(Object.values(there).every(([, , conflicts]) => conflicts === 0), JSON.stringify(there));
  });
}

test('a filtered replication follows roles, and a live one hears of what leaves', async () => {
  const { change, ada } = await database('filter-live');
  await user('ada', ['blue']);
  for (let n = 0; n < 4; n++) await change(`t${n}`, { team: 'blue', n });
  const hers = local();
  const live = hers.replicate.from(ada, { live: true, retry: true, selector: { n: { $gte: 2 } } });
  await until('the first', async () => (await ids(hers)).join() === 't2,t3');
  await user('ada', []);
  await until('all gone', async () => (await ids(hers)).join() === '');
  await user('ada', ['blue']);
  await until('back', async () => (await ids(hers)).join() === 't2,t3');
  await change('t3', { team: 'red', n: 0 });
  await until('t3 gone', async () => (await ids(hers)).join() === 't2');
  live.cancel();
});

test('shows, lists and updates work on what the user may see', async () => {
  const { admin, change } = await database('functions');
  await admin.put({ _id: '_design/by', ...functions });
  for (let n = 0; n < 6; n++) await change(`d${n}`, { owner: n % 3 ? 'bob' : 'ada', n });
  const as = async (who, path, method = 'GET') => {
    const answer = await fetch(`http://${server.listen}/functions/_design/by/${path}`, {
      method, headers: { authorization: `Basic ${btoa(who)}` },
    });
    const text = await answer.text();
    return [answer.status, text.startsWith('{') ? JSON.parse(text) : text];
  };
  const adm = 'adm:pass', her = 'ada:pencil';
  assert.deepEqual(await as(her, '_show/own/d3'), [200, { doc: 3, sec: {} }]);
  assert.deepEqual(await as(her, '_show/own/d1'), [200, { doc: null, sec: {} }]);
  const [, shown] = await as(adm, '_show/own/d1');
  assert.deepEqual([shown.doc, shown.count, 'admins' in shown.sec], [1, 7, true]);
  const [status, listed] = await as(her, '_list/own/even?reduce=false');
  assert.deepEqual([status, listed.rows.length, listed.total ?? 1, listed.count], [200, 1, 1, undefined]);
  assert.deepEqual((await as(her, '_list/own/even?group=true'))[1].rows, [1]);
  assert.deepEqual((await as(her, '_list/own/even'))[1].rows, [1], 'reduced over what she sees');
  assert.deepEqual((await as(adm, '_list/own/even'))[1].rows, [3]);
  assert.deepEqual(await as(her, '_update/bump/d3', 'PUT'), [201, 'bumped']);
  assert.equal((await admin.get('d3')).n, 13);
  assert.deepEqual(await as(her, '_update/give/d1', 'PUT'), [200, 'none'], 'what is hidden is not there');
  assert.equal((await as(her, '_update/give/d3', 'PUT'))[0], 403, 'it is not given away');
  assert.equal((await as(her, '_update/bump/d1', 'PUT'))[0] >= 403, true, 'nor is what is hidden written over');
  assert.deepEqual([(await admin.get('d1')).n, (await admin.get('d3')).owner], [1, 'ada']);
  assert.deepEqual(await as(her, '_update/bump/new?owner=ada', 'PUT'), [201, 'new']);
  assert.equal((await as(her, '_update/bump/newer?owner=bob', 'PUT'))[0], 403);
  for (const path of ['_show/own/d3', '_list/own/even']) assert.equal((await as('nobody:x', path))[0], 401, path);
});
