// Views and functions of design documents, by the clients that people use: nano, PouchDB's mapreduce over HTTP, and an
// application that is pushed by PUTs as couchapp did.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import nano from 'nano';
import PouchDB from 'pouchdb';
import { Server } from './server.js';

let server, couch;
before(async () => { server = await new Server().start(); couch = nano(server.url); });
after(() => server.end());

const text = (fn) => fn.toString();
const map = (body) => ({ map: `function (doc) { ${body} }` });

async function fresh(name, designs, docs = []) {
  await couch.db.create(name);
  const db = couch.use(name);
  for (const [id, design] of Object.entries(designs)) await db.insert(design, `_design/${id}`);
  if (docs.length) await db.bulk({ docs });
  return db;
}

async function ask(method, path, { body, headers = {}, as } = {}) {
  const url = new URL(server.url);
  const auth = as === undefined ? `${url.username}:${url.password}` : as;
  if (auth) headers.authorization = `Basic ${Buffer.from(auth).toString('base64')}`;
  const answer = await fetch(`${url.origin}/${path}`, { method, body, headers, redirect: 'manual' });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

const people = Array.from({ length: 300 }, (_, n) => ({
  _id: `p${String(n).padStart(3, '0')}`, name: `n${n}`, age: n % 50, city: ['Oslo', 'Lima', 'Rome'][n % 3],
}));

test('nano asks views by key, range and group', async () => {
  const db = await fresh('nano', {
    people: {
      views: {
        by_age: { ...map('emit(doc.age, doc.name)'), reduce: '_count' },
        ages: { ...map('emit([doc.city, doc.age], doc.age)'), reduce: '_stats' },
        oldest: { ...map('emit(doc.city, doc.age)'), reduce: text((keys, values) => Math.max.apply(null, values)) },
      },
    },
  }, people);
  const rows = (await db.view('people', 'by_age', { key: 7, reduce: false, include_docs: true })).rows;
  assert.deepEqual(rows.map((row) => row.doc.age), [7, 7, 7, 7, 7, 7]);
  const range = await db.view('people', 'by_age', { startkey: 48, endkey: 10, descending: true, reduce: false, limit: 2 });
  assert.deepEqual(range.rows.map((row) => [row.key, row.id]), [[48, 'p298'], [48, 'p248']]);
  assert.equal((await db.view('people', 'by_age')).rows[0].value, 300);
  const cities = await db.view('people', 'ages', { group_level: 1 });
  assert.deepEqual(cities.rows.map((row) => [row.key, row.value.count]), [[['Lima'], 100], [['Oslo'], 100], [['Rome'], 100]]);
  const oldest = await db.view('people', 'oldest', { group: true });
  assert.deepEqual(oldest.rows, [{ key: 'Lima', value: 49 }, { key: 'Oslo', value: 49 }, { key: 'Rome', value: 49 }]);
  const keys = await db.view('people', 'by_age', { keys: [1, 99, 2], reduce: false });
  assert.deepEqual([...new Set(keys.rows.map((row) => row.key))], [1, 2]);
  // A change is seen at once, and what was before is still there at its moment.
  const seq = (await db.info()).update_seq;
  await db.insert({ age: 7, name: 'new' }, 'new');
  assert.equal((await db.view('people', 'by_age', { key: 7 })).rows[0].value, 7);
  const past = await ask('GET', `nano/_design/people/_view/by_age?key=7&at=${seq}`);
  assert.equal(JSON.parse(past.text).rows[0].value, 6);
  assert.equal((await db.view('people', 'by_age', { key: 7, update: 'false' })).rows[0].value, 7);
});

test('PouchDB queries views of the server, and its own of the same documents alike', async () => {
  const name = 'pouch';
  const db = new PouchDB(`${server.url}/${name}`);
  await db.bulkDocs(people.map((doc) => ({ ...doc })));
  await db.put({
    _id: '_design/v',
    views: {
      city: { map: text(function (doc) { emit(doc.city, doc.age); }), reduce: '_sum' },
      mixed: { map: text(function (doc) { emit(doc.age % 2 ? [doc.age] : doc.name, null); }) },
    },
  });
  const grouped = await db.query('v/city', { group: true });
  assert.deepEqual(grouped.rows.map((row) => row.key), ['Lima', 'Oslo', 'Rome']);
  assert.equal(grouped.rows.reduce((sum, row) => sum + row.value, 0), people.reduce((sum, doc) => sum + doc.age, 0));
  const page = await db.query('v/mixed', { limit: 3, skip: 150, include_docs: true });
  assert.deepEqual(page.rows.map((row) => row.key), [[1], [1], [1]]);
  assert.equal(page.total_rows, 300);
  assert.equal(page.offset, 150);
  await assert.rejects(db.query('v/none'), { status: 404 });
  await db.viewCleanup();
  const filtered = await db.changes({ filter: '_view', view: 'v/city', limit: 5 });
  assert.equal(filtered.results.length, 5);
});

test('functions filter feeds and replications', async () => {
  const db = await fresh('filters', {
    f: { filters: {
      old: text(function (doc, req) { return doc._deleted || doc.age >= Number(req.query.age); }),
      broken: text(function () { throw new Error('boom'); }),
    } },
  }, people);
  const feed = await ask('GET', 'filters/_changes?filter=f/old&age=49');
  assert.equal(JSON.parse(feed.text).results.length, 6);
  assert.equal((await ask('GET', 'filters/_changes?filter=f/none')).status, 404);
  assert.equal((await ask('GET', 'filters/_changes?filter=f/broken')).status, 500);
  const copy = new PouchDB(`${server.url}/copy`);
  await copy.replicate.from(`${server.url}/filters`, { filter: 'f/old', query_params: { age: 48 } });
  assert.equal((await copy.info()).doc_count, 12);
  // Of a document with conflicts, each leaf is asked about.
  const _revisions = (own) => ({ start: 2, ids: [own, 'a'] });
  await new PouchDB(`${server.url}/filters`).bulkDocs([{ _id: 'split', _rev: '2-y', _revisions: _revisions('y'), age: 1 },
    { _id: 'split', _rev: '2-x', _revisions: _revisions('x'), age: 99 }], { new_edits: false });
  const rows = async (query) => JSON.parse((await ask('GET', `filters/_changes?filter=f/old&age=99${query}`)).text).results;
  assert.deepEqual(await rows(''), []);
  const [row, ...others] = await rows('&style=all_docs');
  assert.deepEqual([row.id, row.changes, others], ['split', [{ rev: '2-x' }], []]);
  await copy.replicate.from(`${server.url}/filters`, { filter: 'f/old', query_params: { age: 99 } });
  assert.equal((await copy.get('split'))._rev, '2-x');
});

test('validation functions are asked by every way to write', async () => {
  const db = await fresh('valid', {
    v: {
      lib: { rules: "exports.ok = function (doc) { return typeof doc.n === 'number'; };" },
      validate_doc_update: text(function (doc, old, user, security) {
        if (!require('lib/rules').ok(doc) && !doc._deleted) throw ({ forbidden: 'n is a number' });
        if (old && old.by && old.by !== user.name) throw ({ unauthorized: 'not yours' });
      }),
    },
  });
  await db.insert({ n: 1 }, 'a');
  await assert.rejects(db.insert({ n: 'x' }, 'b'), { statusCode: 403, reason: 'n is a number' });
  const bulk = await db.bulk({ docs: [{ _id: 'c', n: 2 }, { _id: 'd' }] });
  assert.deepEqual(bulk.map((row) => row.error), [undefined, 'forbidden']);
  const replicated = await ask('POST', 'valid/_bulk_docs', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ new_edits: false, docs: [{ _id: 'e', _rev: '1-aa', n: 'no' }] }),
  });
  assert.equal(JSON.parse(replicated.text)[0].error, 'forbidden');
  await couch.db.create('from');
  await couch.use('from').bulk({ docs: [{ _id: 'f', n: 3 }, { _id: 'g', n: 'no' }] });
  const result = await couch.db.replicate(`${server.url}/from`, `${server.url}/valid`);
  assert.equal(result.history[0].doc_write_failures, 1);
  const ids = (await db.list()).rows.map((row) => row.id);
  assert.deepEqual(ids, ['_design/v', 'a', 'c', 'f']);
  await assert.rejects(db.insert({ views: { v: { map: 'function (doc) {' } } }, '_design/bad'), { statusCode: 400, error: 'compilation_error' });
  await assert.rejects(db.insert({ views: { v: { ...map('emit(1)'), reduce: '_mean' } } }, '_design/bad'), { statusCode: 400, error: 'invalid_design_doc' });
});

test('an application of one design document shows, lists and rewrites', async () => {
  await fresh('app', {
    app: {
      lib: { html: "exports.escape = function (s) { return String(s).replace(/</g, '&lt;'); };" },
      views: { names: map('emit(doc.name, doc.age)') },
      shows: {
        person: text(function (doc, req) {
          var html = require('lib/html');
          if (!doc) return { code: 404, body: 'nobody' };
          provides('html', function () { return '<h1>' + html.escape(doc.name) + '</h1>'; });
          provides('json', function () { return { json: { name: doc.name } }; });
        }),
      },
      lists: {
        table: text(function (head, req) {
          start({ headers: { 'Content-Type': 'text/csv' } });
          var row;
          send('name,age\n');
          while ((row = getRow())) send(row.key + ',' + row.value + '\n');
          return 'total ' + head.total_rows;
        }),
      },
      updates: {
        birthday: text(function (doc, req) { doc.age++; return [doc, { json: { age: doc.age } }]; }),
      },
      rewrites: [
        { from: '/people/:id', to: '_show/person/:id', method: 'GET' },
        { from: '/table', to: '_list/table/names', query: { limit: '2' } },
        { from: '/api/*', to: '../../*' },
      ],
    },
  }, people.slice(0, 5).concat({ _id: 'x', name: '<b>', age: 1 }));
  const html = await ask('GET', 'app/_design/app/_show/person/x', { headers: { accept: 'text/html' } });
  assert.deepEqual([html.status, html.text], [200, '<h1>&lt;b></h1>']);
  assert.match(html.headers.get('content-type'), /^text\/html/);
  const json = await ask('GET', 'app/_design/app/_show/person/x', { headers: { accept: 'application/json' } });
  assert.deepEqual(JSON.parse(json.text), { name: '<b>' });
  assert.equal((await ask('GET', 'app/_design/app/_show/person/nobody')).status, 404);
  const list = await ask('GET', 'app/_design/app/_list/table/names?limit=2');
  assert.equal(list.text, 'name,age\n<b>,1\nn0,0\ntotal 6');
  assert.equal(list.headers.get('content-type'), 'text/csv');
  const update = await ask('PUT', 'app/_design/app/_update/birthday/p001');
  assert.deepEqual([update.status, JSON.parse(update.text)], [201, { age: 2 }]);
  assert.match(update.headers.get('x-couch-update-newrev'), /^2-/);
  assert.equal((await ask('DELETE', 'app/_design/app/_update/birthday/p001')).status, 201);
  assert.equal((await ask('GET', 'app/_design/app/_update/birthday/p001')).status, 405);
  assert.equal((await ask('GET', 'app/_design/app/_rewrite/people/x', { headers: { accept: 'text/html' } })).text, '<h1>&lt;b></h1>');
  assert.equal((await ask('GET', 'app/_design/app/_rewrite/table')).text, 'name,age\n<b>,1\nn0,0\ntotal 6');
  assert.equal(JSON.parse((await ask('GET', 'app/_design/app/_rewrite/api/x')).text).name, '<b>');
  assert.equal((await ask('GET', 'app/_design/app/_rewrite/nowhere')).status, 404);
});

test('views read as in CouchDB: keys, both directions, raw order, queries and what wins', async () => {
  await fresh('letter', {
    v: {
      views: {
        many: { map: text(function (doc) { for (var n = 3; n > 0; n--) emit(doc.n, doc._id + n); }), reduce: '_count \n of all' },
        raw: { map: text(function (doc) { if (doc.values) doc.values.forEach(function (own) { emit(own, null); }); }), options: { collation: 'raw' } },
        grows: { map: text(function (doc) { emit(doc.n, doc._id); }),
          reduce: text(function (keys, values, again) { return keys && keys[0][0] === 1 ? new Array(9000).join('x') : values.length; }) },
      },
    },
  }, [{ _id: 'a', n: 1 }, { _id: 'b', n: 1 }, { _id: 'c', n: 2 },
    { _id: 'd', n: 9, values: ['a', 'B', [1], {}, null, true, false, 7, []] }]);
  const view = async (rest, body) => {
    const options = body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {};
    const answer = await ask(body ? 'POST' : 'GET', `letter/_design/v/_view/${rest}`, options);
    return JSON.parse(answer.text);
  };
  const values = async (rest, body) => (await view(rest, body)).rows.map((row) => row.value);
  // Rows of one document with equal keys are in the order of their values, in both directions.
  assert.deepEqual(await values('many?reduce=false&key=1'), ['a1', 'a2', 'a3', 'b1', 'b2', 'b3']);
  assert.deepEqual(await values('many?reduce=false&keys=[2,1]&descending=true&limit=4'), ['b1', 'b2', 'b3', 'a1']);
  assert.deepEqual(await values('many?reduce=false&keys=[1]&startkey_docid=b&endkey_docid=b'), ['b1', 'b2', 'b3']);
  assert.deepEqual((await view('many?group=true')).rows.map((row) => row.value), [6, 3, 3]);
  assert.deepEqual((await view('raw')).rows.map((row) => row.key), [7, false, null, true, {}, [], [1], 'B', 'a']);
  assert.deepEqual((await view('raw?startkey="B"&endkey="a"')).rows.map((row) => row.key), ['B', 'a']);
  // The query wins over the body, and one of several queries over both.
  assert.deepEqual(await values('many?reduce=false&limit=1', { limit: 5, skip: 1 }), ['a2']);
  const several = await view('many/queries?reduce=false&limit=1', { queries: [{ key: 2 }, { key: 1, limit: 2 }] });
  assert.deepEqual(several.results.map((result) => result.rows.map((row) => row.value)), [['c1'], ['a1', 'a2']]);
  assert.equal((await view('many', { queries: [{}] })).reason, 'The `queries` parameter is no longer supported at this endpoint');
  // A member that is there twice is refused: the other one would be lost.
  for (const [rest, body] of [['many', '{"keys":[1],"keys":[2]}'], ['many/queries', '{"queries":[{"limit":1,"limit":2}]}']]) {
    const twice = await ask('POST', `letter/_design/v/_view/${rest}`, { body, headers: { 'content-type': 'application/json' } });
    assert.match(twice.text, /(keys|limit) is there twice/);
  }
  // One key is a range, and a level wins over `group`.
  assert.deepEqual((await view('many?keys=[1]')).rows, [{ key: null, value: 6 }]);
  assert.deepEqual(await values('many?group=true&group_level=0'), [12]);
  assert.match((await view('many?reduce=false&keys=[1,2]&startkey=1')).reason, /^`keys` is incompatible with `key`/);
  assert.equal((await view('many?group_level=exact')).reason, 'Invalid value for integer: "exact"');
  // A reduction that grows too fast fails its row, and no other.
  const rows = (await view('grows?group=true')).rows;
  assert.equal(rows[0].error, 'reduce_overflow_error');
  assert.match(rows[0].reason, /must shrink more rapidly/);
  assert.deepEqual(rows.slice(1).map((row) => row.value), [1, 1]);
});

test('functions answer as in CouchDB: errors of their own, tags, types, and rewrites', async () => {
  await fresh('letters', {
    f: {
      views: { all: map('emit(doc._id)') },
      shows: {
        sent: text(function () { start({ headers: { 'X-Own': 'yes' } }); send('a'); send('b'); return 'c'; }),
        gone: text(function () { throw ['error', 'not_found', 'not here']; }),
        thrown: text(function () { throw { error: 'forbidden', reason: 'not you' }; }),
        fails: text(function (doc) { return doc.name; }),
        number: text(function () { return 5; }),
        body: text(function () { return { body: 5 }; }),
        nothing: text(function () { return null; }),
        code: text(function () { return { code: '404', body: 'x' }; }),
        some: text(function () { provides('html', function () { return 'y'; }); provides('json', function () { return 'z'; }); }),
      },
      updates: { number: text(function () { return [null, 5]; }) },
      lists: {
        ids: text(function () { var row, all = []; while ((row = getRow())) all.push(row.id); return all.join(); }),
        sent: text(function () { start({ headers: { 'content-type': 'text/plain' } }); send('without a row'); }),
        csv: text(function () { provides('csv', function () { return 'x'; }); provides('html', function () { return 'y'; }); }),
      },
      rewrites: text(function (req) {
        var last = req.path[req.path.length - 1];
        if (last === 'own') return { code: 418, body: 'tea', headers: { 'Content-Type': 'text/plain' } };
        if (last === 'list') return '../../_all_docs';
        if (last === 'put') return { path: '../../made', method: 'PUT', body: JSON.stringify({ by: req.body }) };
        if (last === 'cookie') return { path: '../../x', headers: { Cookie: 'x' } };
        return last === 'null' ? null : undefined;
      }),
    },
  }, [{ _id: 'x', name: 'X' }, { _id: 'y', name: 'Y' }]);
  const at = (path, options) => ask('GET', `letters/_design/f/${path}`, options);
  const sent = await at('_show/sent');
  assert.deepEqual([sent.text, sent.headers.get('x-own')], ['abc', 'yes']);
  const refused = async (path) => { const answer = await at(path); const { error, reason } = JSON.parse(answer.text); return [answer.status, error, reason]; };
  assert.deepEqual(await refused('_show/gone/x'), [404, 'not_found', 'not here']);
  assert.deepEqual(await refused('_show/thrown/x'), [403, 'forbidden', 'not you']);
  assert.deepEqual(await refused('_show/fails/none'), [404, 'not_found', 'document not found']);
  // What is no answer is refused, and not sent as an empty one.
  assert.deepEqual(await refused('_show/number'), [500, 'render_error', 'undefined response from show function']);
  assert.deepEqual(await refused('_show/body'), [500, 'render_error', '`body` is no text']);
  assert.match((await ask('POST', 'letters/_design/f/_update/number', {})).text, /undefined response from update function/);
  const nothing = await at('_show/nothing');
  assert.deepEqual([nothing.status, nothing.text, nothing.headers.get('content-type')], [200, '', 'application/json']);
  assert.equal((await at('_show/code')).status, 404);
  // A format that the function does not provide is none of its formats.
  assert.equal((await at('_show/some?format=html', { headers: { accept: '*/*' } })).text, 'y');
  const [status, error, reason] = await refused('_show/some?format=xml');
  assert.deepEqual([status, error], [406, 'not_acceptable']);
  assert.match(reason, /not supported, try one of: text\/html; charset=utf-8, application\/json, text\/x-json$/);
  const shown = await at('_show/sent/x');
  const tag = shown.headers.get('etag');
  assert.ok(tag);
  assert.equal((await at('_show/sent/x', { headers: { 'if-none-match': tag } })).status, 304);
  assert.notEqual((await at('_show/sent/y')).headers.get('etag'), tag);
  assert.equal((await at('_list/ids/_all_docs')).text, '_design/f,x,y');
  assert.equal((await at('_list/ids/all?descending=true')).text, 'y,x');
  assert.equal((await at('_list/ids/_all_docs?limit=1&startkey="x"')).text, 'x');
  assert.equal((await at('_list/ids/all')).headers.get('content-type'), 'application/json');
  const plain = await at('_list/sent/all');
  assert.deepEqual([plain.text, plain.headers.get('content-type')], ['without a row', 'text/plain']);
  const csv = await at('_list/csv/all', { headers: { accept: 'text/csv' } });
  assert.deepEqual([csv.text, csv.headers.get('content-type')], ['x', 'text/csv']);
  const html = await at('_list/csv/all', { headers: { accept: 'text/html' } });
  assert.deepEqual([html.text, html.headers.get('content-type')], ['y', 'text/html; charset=utf-8']);
  const own = await at('_rewrite/own');
  assert.deepEqual([own.status, own.text, own.headers.get('content-type')], [418, 'tea', 'text/plain']);
  assert.deepEqual(JSON.parse((await at('_rewrite/list?limit=1')).text).rows.map((row) => row.id), ['_design/f']);
  assert.equal((await ask('POST', 'letters/_design/f/_rewrite/put', { body: 'hello' })).status, 201);
  assert.equal(JSON.parse((await ask('GET', 'letters/made')).text).by, 'hello');
  assert.match((await at('_rewrite/cookie')).text, /sets the header/);
  for (const none of ['none', 'null']) assert.equal((await at(`_rewrite/${none}`)).status, 404);
});

test('a hostile design document harms its own requests only', async () => {
  await ask('PUT', '_node/_local/_config/couchdb/os_process_timeout', { body: '"500"' });
  const db = await fresh('hostile', {
    h: { views: {
      join: map("emit(new Array(1e9) + '')"),
      sort: map('[].sort.call({ length: 2 ** 32 - 1 }, function () { return 0; })'),
      loop: map('for (;;);'),
    } },
    good: { views: { n: map('emit(doc.name)') } },
  }, people);
  const bad = ['join', 'sort', 'loop'].map((view) => ask('GET', `hostile/_design/h/_view/${view}`));
  assert.equal((await db.view('good', 'n')).rows.length, 300);
  for (const answer of await Promise.all(bad)) {
    assert.ok(answer.status === 500 || JSON.parse(answer.text).total_rows === 0, answer.text);
  }
  await ask('DELETE', '_node/_local/_config/couchdb/os_process_timeout');
  assert.equal((await db.view('good', 'n')).rows.length, 300);
});

test('a set-up script finds what it asks a CouchDB for', async () => {
  const setUp = await ask('POST', '_cluster_setup', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ action: 'enable_single_node', username: 'adm', password: 'pass', bind_address: '0.0.0.0', port: 5984, singlenode: true }),
  });
  assert.equal(setUp.status, 201, setUp.text);
  const config = [
    ['chttpd/require_valid_user', 'true'], ['chttpd_auth/require_valid_user', 'true'],
    ['httpd/WWW-Authenticate', 'Basic realm="couchdb"'], ['httpd/enable_cors', 'true'], ['chttpd/enable_cors', 'true'],
    ['chttpd/max_http_request_size', '4294967296'], ['couchdb/max_document_size', '50000000'],
    ['couchdb/single_node', 'true'], ['cors/credentials', 'true'],
    ['cors/origins', 'app://obsidian.md,capacitor://localhost,http://localhost'],
  ];
  for (const [key, value] of config) {
    const put = await ask('PUT', `_node/nonode@nohost/_config/${key}`, { body: JSON.stringify(value) });
    assert.equal(put.status, 200, `${key}: ${put.text}`);
    assert.equal(JSON.parse((await ask('GET', `_node/_local/_config/${key}`)).text), value);
  }
  assert.equal((await ask('GET', '_all_dbs', { as: '' })).status, 401);
  const all = (await ask('GET', '_node/_local/_config')).text;
  assert.doesNotMatch(all, /"secret"/);
});

test('a build that kill -9 breaks off is told of, goes on, and is whole', async () => {
  const other = await new Server().start();
  const at = (path, options = {}) => {
    const url = new URL(other.url);
    const headers = { authorization: `Basic ${Buffer.from('adm:pass').toString('base64')}`, 'content-type': 'application/json' };
    return fetch(`${url.origin}/${path}`, { headers, ...options });
  };
  await at('big', { method: 'PUT' });
  for (let from = 0; from < 20000; from += 5000) {
    const docs = Array.from({ length: 5000 }, (_, n) => ({ _id: `d${String(from + n).padStart(5, '0')}`, n: from + n }));
    await at('big/_bulk_docs', { method: 'POST', body: JSON.stringify({ docs }) });
  }
  const slow = 'function (doc) { for (var i = 0; i < 3000; i++); emit(doc.n % 7, doc.n); }';
  await at('big/_design/v', { method: 'PUT', body: JSON.stringify({ views: { v: { map: slow, reduce: '_stats' } } }) });
  const asked = at('big/_design/v/_view/v').catch(() => null);
  let task;
  for (const until = Date.now() + 30000; Date.now() < until && !task?.changes_done;) {
    [task] = await (await at('_active_tasks')).json();
  }
  assert.ok(task?.changes_done > 0, 'the build is told of');
  assert.equal(task.type, 'indexer');
  assert.equal(task.total_changes, 20001);
  await other.kill();
  await asked;
  // The command line shows how far it is, and the build goes on from there.
  const said = execFileSync(process.env.RECENSION_BINARY, ['--store', join(other.dir, 'store'), 'views', 'big'], { encoding: 'utf8' });
  const kept = JSON.parse(said);
  assert.deepEqual([kept.view, kept.state, kept.documents], ['v/v', 'building', 20001], said);
  assert.ok(kept.mapped >= task.changes_done && kept.mapped < 20001, said);
  await other.start();
  const again = at('big/_design/v/_view/v?group=true');
  let next;
  for (const until = Date.now() + 30000; Date.now() < until && !next?.total_changes;) {
    [next] = await (await at('_active_tasks')).json();
  }
  assert.ok(next.changes_done >= kept.mapped && next.progress > 0, JSON.stringify([kept, next]));
  await again;
  const info = await (await at('big/_design/v/_info')).json();
  assert.equal(info.view_index.rows, 20000, JSON.stringify(info));
  const rows = (await (await at('big/_design/v/_view/v?group=true')).json()).rows;
  assert.deepEqual(rows.map((row) => row.key), [0, 1, 2, 3, 4, 5, 6]);
  assert.equal(rows.reduce((sum, row) => sum + row.value.count, 0), 20000);
  assert.equal(rows.reduce((sum, row) => sum + row.value.sum, 0), 20000 * 19999 / 2);
  const page = await (await at('big/_design/v/_view/v?reduce=false&key=6&limit=1')).json();
  assert.deepEqual([page.total_rows, page.offset], [20000, 20000 - rows[6].value.count]);
  await other.end();
});

test('a view that was changed is read as it was, without a build, also after kill -9', async () => {
  const other = await new Server().start();
  const headers = { authorization: `Basic ${Buffer.from('adm:pass').toString('base64')}`, 'content-type': 'application/json' };
  const at = (path, options = {}) => fetch(`${new URL(other.url).origin}/${path}`, { headers, ...options }).then((answer) => answer.json());
  const put = (path, body) => at(path, { method: 'PUT', body: JSON.stringify(body) });
  await put('shop', {});
  const docs = Array.from({ length: 3000 }, (_, n) => ({ _id: `d${n}`, n }));
  await at('shop/_bulk_docs', { method: 'POST', body: JSON.stringify({ docs }) });
  // One that is kept in commits, and one that is kept behind them.
  const quick = 'function (doc) { emit(doc.n, 1); }';
  const slow = (value) => `function (doc) { for (var i = 0; i < 5000; i++); emit(String(doc.n), ${value}); }`;
  const design = (views) => ({ views: Object.fromEntries(Object.entries(views).map(([name, map]) => [name, { map, reduce: '_sum' }])) });
  const made = await put('shop/_design/v', design({ quick, slow: slow(1) }));
  const sum = async (name, query = '') => {
    const answer = await at(`shop/_design/v/_view/${name}${query}`);
    assert.ok(answer.rows, `${name}${query}: ${JSON.stringify(answer)}`);
    return answer.rows[0]?.value;
  };
  assert.deepEqual([await sum('quick'), await sum('slow')], [3000, 3000]);
  await put('shop/_design/v', { ...design({ quick: 'function (doc) { emit(doc.n, 2); }', slow: slow(2) }), _rev: made.rev });
  await put('shop/new', { n: 7 });
  for (const round of ['before', 'after']) {
    if (round === 'after') {
      await other.kill();
      await other.start();
    }
    // Whatever the old rows have of the document that came since, the new ones are not made.
    for (const name of ['quick', 'slow']) {
      assert.ok([3000, 3001].includes(await sum(name, '?update=false')), `${name} ${round}`);
      assert.ok([3000, 3001].includes(await sum(name, '?stale=ok')), `${name} ${round}`);
    }
    assert.deepEqual(await at('_active_tasks'), []);
  }
  assert.deepEqual([await sum('quick'), await sum('slow')], [6002, 6002]);
  assert.deepEqual([await sum('quick', '?update=false'), await sum('slow', '?update=false')], [6002, 6002]);
  // `lazy` answers at once, and brings up to date afterwards; `stable` changes nothing.
  await put('shop/newer', { n: 8 });
  assert.equal(await sum('slow', '?update=lazy&stable=true'), 6002);
  for (let tries = 0; (await sum('slow', '?update=false')) !== 6004; tries++) {
    assert.ok(tries < 100, 'it was not brought up to date');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await other.end();
});

test('rows of views come as lines and as tables, to whoever asks for them', async () => {
  const design = { views: { by_age: { ...map('emit([doc.age, doc.name], doc.city)'), reduce: '_count' }, plain: map('emit(doc.name, null)') } };
  await fresh('tables', { d: design }, [
    { _id: 'a', name: 'Ada, "Countess"', age: 36, city: 'London' }, { _id: 'b', name: '=1+1\r\n<b>', age: 7, address: { city: null } }]);
  const get = async (path, accept = '*/*', more = {}) => {
    const answer = await ask('GET', `tables/_design/d/_view/${path}`, { headers: { accept }, ...more });
    assert.match(answer.headers.get('vary'), /accept/i);
    return answer;
  };
  const csv = await get('by_age?reduce=false', 'text/csv');
  assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8');
  assert.equal(csv.text, 'id,key,value\r\nb,"[7,""=1+1\\r\\n<b>""]",\r\na,"[36,""Ada, \\""Countess\\""""]",London\r\n');
  assert.equal((await get('by_age?reduce=false&format=csv', 'application/json')).text, csv.text);
  assert.equal((await get('by_age?group_level=1', 'text/csv')).text, 'key,value\r\n[7],1\r\n[36],1\r\n');
  assert.equal((await get('by_age', 'text/csv')).text, 'key,value\r\n,2\r\n');
  assert.equal((await get('plain?fields=age,address.city&descending=true&format=csv')).text,
    'id,key,value,age,address.city\r\na,"Ada, ""Countess""",,36,\r\nb,"=1+1\r\n<b>",,7,\r\n');
  assert.match((await get('plain?include_docs=true&limit=1&format=csv')).text, /^id,key,value,doc\r\nb,.*""_id"":""b""/s);
  const lines = (await get('plain', 'application/x-ndjson')).text.trim().split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(lines, JSON.parse((await get('plain')).text).rows);
  assert.equal((await get('plain?key="none"', 'text/csv')).text, 'id,key,value\r\n');
  const posted = await ask('POST', 'tables/_design/d/_view/plain', {
    body: JSON.stringify({ keys: ['none', 'Ada, "Countess"'] }), headers: { accept: 'text/csv', 'content-type': 'application/json' } });
  assert.equal(posted.text, 'id,key,value\r\na,"Ada, ""Countess""",\r\n');
  const refused = await ask('GET', 'tables/_design/d/_view/by_age?fields=a&format=csv');
  assert.equal(refused.status, 400);
  assert.match(refused.text, /columns of documents/);
  // A page of a view leads to its table.
  const page = (await get('plain', 'text/html,application/xhtml+xml')).text;
  assert.match(page, /href="\/tables\/_design\/d\/_view\/plain\?format=csv">CSV</);
});

test('a reference that refers to nothing has no document, and a range that ends before it begins is refused', async () => {
  const db = await fresh('references', { v: { views: { v: map('emit(doc._id, {_id: doc.ref})') } } }, [
    { _id: 'a', ref: null }, { _id: 'b', ref: 'a' }, { _id: 'c' }, { _id: 'd', ref: 5 },
  ]);
  const { rows } = await db.view('v', 'v', { include_docs: true });
  assert.deepEqual(rows.map((row) => row.doc?._id ?? null), [null, 'a', 'c', null]);
  const refused = await ask('GET', 'references/_design/v/_view/v?startkey=1&endkey=2&descending=true');
  assert.equal(refused.status, 400);
  assert.match(JSON.parse(refused.text).reason, /set descending=false$/);
});
