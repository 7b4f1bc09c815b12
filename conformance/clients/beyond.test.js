// What CouchDB does not have, and what nobody should send: by plain HTTP.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { after, before, test } from 'node:test';
import { Server } from './server.js';

let server, base;
const authorization = `Basic ${Buffer.from('adm:pass').toString('base64')}`;
before(async () => { server = await new Server().start(); base = `http://${server.listen}`; });
after(() => server.end());

async function call(method, path, body, headers = {}) {
  const type = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? {} : { 'content-type': 'application/json' };
  const text = Object.keys(type).length ? JSON.stringify(body) : body;
  const answer = await fetch(base + path, { method, body: text, headers: { authorization, ...type, ...headers } });
  const bytes = Buffer.from(await answer.arrayBuffer());
  let json;
  try { json = JSON.parse(bytes); } catch { json = undefined; }
  return { status: answer.status, headers: answer.headers, bytes, json };
}

async function fresh(name) {
  assert.equal((await call('PUT', `/${name}`)).status, 201);
  return `/${name}`;
}

test('the past of documents is listed, and read as of a commit', async () => {
  const db = await fresh('past');
  const first = (await call('PUT', `${db}/a`, { n: 1 })).json;
  const second = (await call('PUT', `${db}/a`, { _rev: first.rev, n: 2 })).json;
  await call('DELETE', `${db}/a?rev=${second.rev}`);
  const { json } = await call('GET', `${db}/a/_history?include_docs=true`);
  assert.deepEqual(json.history.map(({ doc, deleted }) => [doc.n, deleted]), [[undefined, true], [2, false], [1, false]]);
  assert.equal((await call('GET', `${db}/a/_history?limit=1`)).json.history.length, 1);
  const [, two, one] = json.history;
  assert.equal((await call('GET', `${db}/a?at=${one.seq}`)).json.n, 1);
  assert.equal((await call('GET', `${db}/a?at=seq:${two.seq}`)).json._rev, second.rev);
  assert.equal((await call('GET', `${db}/a`)).status, 404);
  assert.equal((await call('GET', `${db}/_all_docs?at=${two.seq}&include_docs=true`)).json.rows[0].doc.n, 2);
  assert.equal((await call('GET', `${db}/_all_docs`)).json.total_rows, 0);
  assert.equal((await call('GET', `${db}/a?at=now`)).status, 404);
  assert.match((await call('GET', `${db}/a?at=0`)).json.reason, /^The database was made at .*: it has no past before that/);
  for (const at of ['someday', '99999999', '']) assert.equal((await call('GET', `${db}/a?at=${at}`)).status, 400, at);
  assert.equal((await call('GET', `${db}/none/_history`)).status, 404);
});

test('documents are patched, or not at all', async () => {
  const db = await fresh('patched');
  const { rev } = (await call('PUT', `${db}/a`, { n: 1, list: [1] })).json;
  const merge = { 'content-type': 'application/merge-patch+json' }, patch = { 'content-type': 'application/json-patch+json' };
  const merged = await call('PATCH', `${db}/a?rev=${rev}`, '{"n":null,"m":{"x":1}}', merge);
  assert.equal(merged.status, 200);
  assert.equal((await call('PATCH', `${db}/a?rev=${rev}`, '{"n":2}', merge)).status, 409);
  assert.equal((await call('PATCH', `${db}/a`, '[{"op":"add","path":"/list/-","value":2}]', patch)).status, 200);
  const { _id, _rev, ...body } = (await call('GET', `${db}/a`)).json;
  assert.deepEqual(body, { list: [1, 2], m: { x: 1 } });
  for (const [text, type, status] of [
    ['[{"op":"test","path":"/m/x","value":2}]', patch, 422], ['[{"op":"no"}]', patch, 422], ['{', patch, 400],
    ['{', merge, 400], ['{"_x":1}', merge, 400], ['{}', { 'content-type': 'text/plain' }, 415],
  ]) assert.equal((await call('PATCH', `${db}/a`, text, type)).status, status, text);
  assert.equal((await call('PATCH', `${db}/none`, '{}', merge)).status, 404);
  assert.equal((await call('GET', `${db}/a`)).json._rev, _rev);
});

test('many documents are written together or not at all', async () => {
  const db = await fresh('atomic');
  const all = await call('POST', `${db}/_bulk_docs?atomic=true`, { docs: [{ _id: 'a' }, { _id: 'b' }] });
  assert.deepEqual([all.status, all.json.length], [201, 2]);
  const none = await call('POST', `${db}/_bulk_docs?atomic=true`, { docs: [{ _id: 'c' }, { _id: 'b' }] });
  assert.equal(none.status, 409);
  assert.match(none.json.reason, /b.*Nothing was written/);
  assert.equal((await call('GET', `${db}/c`)).status, 404);
  assert.equal((await call('GET', db)).json.doc_count, 2);
});

test('rules of retention are set by those who may', async () => {
  const db = await fresh('retained');
  assert.equal((await call('GET', `${db}/_retention`)).json, 'everything');
  assert.equal((await call('PUT', `${db}/_retention`, '"versions=2"')).status, 200);
  assert.equal((await call('GET', `${db}/_retention`)).json, 'versions=2');
  assert.equal((await call('PUT', `${db}/_retention`, '"for a while"')).status, 400);
  assert.equal((await call('PUT', `${db}/_retention`, '"head"', { authorization: '' })).status, 401);
});

test('attachments come in parts, compressed as they are stored, and within documents', async () => {
  const db = await fresh('parts');
  const text = 'some words that compress well. '.repeat(20_000);
  const { rev } = (await call('PUT', `${db}/a/t`, gzipSync(text), { 'content-type': 'text/plain', 'content-encoding': 'gzip' })).json;
  const bytes = Buffer.alloc(2_000_000).map((_, i) => (i * 31 + (i >> 8)) & 255);
  const put = await call('PUT', `${db}/a/b?rev=${rev}`, bytes, { 'content-type': 'application/octet-stream' });
  assert.equal(put.status, 201);
  const whole = await call('GET', `${db}/a/t`, undefined, { 'accept-encoding': 'identity' });
  assert.equal(String(whole.bytes), text);
  assert.equal(String((await call('GET', `${db}/a/t`)).bytes), text);
  const part = await call('GET', `${db}/a/b`, undefined, { range: 'bytes=1000000-1999990' });
  assert.equal(part.status, 206);
  assert.ok(part.bytes.equals(bytes.subarray(1_000_000, 1_999_991)));
  const beyond = await call('GET', `${db}/a/b`, undefined, { range: 'bytes=2000000-' });
  assert.deepEqual([beyond.status, beyond.headers.get('content-range')], [416, 'bytes */2000000']);
  const inline = (await call('GET', `${db}/a?attachments=true`)).json._attachments;
  assert.ok(Buffer.from(inline.b.data, 'base64').equals(bytes) && String(Buffer.from(inline.t.data, 'base64')) === text);
  const since = (await call('GET', `${db}/a?atts_since=${encodeURIComponent(JSON.stringify([rev]))}`)).json._attachments;
  assert.ok(since.b.data && since.t.stub);
  const listed = (await call('GET', `${db}/_all_docs?include_docs=true&attachments=true`)).json.rows[0].doc._attachments;
  assert.ok(Buffer.from(listed.b.data, 'base64').equals(bytes));
  const mismatch = await call('PUT', `${db}/m/x`, 'words', { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' });
  assert.deepEqual([mismatch.status, mismatch.json.error], [400, 'content_md5_mismatch']);
  assert.equal((await call('PUT', `${db}/m/x`, 'no gzip', { 'content-encoding': 'gzip' })).status, 400);
  assert.equal((await call('GET', `${db}/m`)).status, 404);
});

test('multipart that cannot be is refused, writes nothing, and leaves the server up', async () => {
  const db = await fresh('hostile');
  const type = (boundary) => ({ 'content-type': `multipart/related; boundary=${boundary}` });
  const doc = (atts) => `--b\r\nContent-Type: application/json\r\n\r\n${JSON.stringify({ _attachments: atts })}\r\n`;
  const follows = { x: { follows: true, content_type: 'text/plain', length: 3 } };
  const cases = [
    ['', 'b', 400], ['no boundary at all', 'b', 400], ['--b--', 'b', 400], [doc(follows), 'b', 400],
    [`${doc(follows)}--b--`, 'b', 400], [`${doc(follows)}--b\r\n\r\nabc`, 'b', 400],
    [`${doc({})}--b\r\n\r\nabc\r\n--b--`, 'b', 400], [`--b\r\n${'A: x\r\n'.repeat(10_000)}\r\n\r\n`, 'b', 413],
    [`${doc({ x: { stub: true } })}--b--`, 'b', 412], ['--b\r\n\r\n{\r\n--b--', 'b', 400],
    [`--b\r\nnonsense\r\n\r\n{}\r\n--b--`, 'b', 400], ['x', '', 400], ['x', 'y'.repeat(300), 400],
    ['x'.repeat(200_000), 'b', 400],
  ];
  for (const [body, boundary, status] of cases) {
    const answer = await call('PUT', `${db}/a`, body, type(boundary));
    assert.equal(answer.status, status, `${body.slice(0, 80)} ${JSON.stringify(answer.json)}`);
  }
  // A connection that breaks off within an attachment leaves nothing.
  await new Promise((resolve) => {
    const socket = connect(Number(server.listen.split(':')[1]), '127.0.0.1', () => {
      socket.write(`PUT ${db}/a/big HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Length: 10000000\r\n\r\n`);
      socket.write(Buffer.alloc(3_000_000), () => { socket.destroy(); resolve(); });
    });
  });
  assert.equal((await call('GET', `${db}/a`)).status, 404);
  const whole = `${doc(follows)}--b\r\n\r\nabc\r\n--b--`;
  assert.equal((await call('PUT', `${db}/a`, whole, type('b'))).status, 201);
  assert.equal(String((await call('GET', `${db}/a/x`)).bytes), 'abc');
});
