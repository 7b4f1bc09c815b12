// The console's pages of the server in real Chromium, each used once: users, rights, replications, settings, backups,
// metrics; attachments and conflicts; queries with their exports; what another changes meanwhile; and all of it behind
// a proxy that has put the server below a path of its own.
import assert from 'node:assert/strict';
import { createServer, request as forward } from 'node:http';
import { after, before, test } from 'node:test';
import { Browsing, isSound, photographed, written } from './browsing.js';

const HOSTILE = '"><script>alert(1)</script>';
let browsing, http, page;
const ask = (...request) => browsing.ask(...request);
const go = (path) => page.goto(http + path);
const button = (name) => page.getByRole('button', { name, exact: true });
const told = (text) => page.getByRole('status').getByText(text).waitFor();

before(async () => {
  browsing = await new Browsing().start();
  http = browsing.http;
  await ask('PUT', '/notes');
  const docs = Array.from({ length: 60 }, (_, n) => ({ _id: `n${n}`, n, tag: ['a', 'b', 'c'][n % 3], text: `<b>${n}</b>` }));
  await ask('POST', '/notes/_bulk_docs', { docs });
  page = await browsing.loggedIn();
});

after(() => browsing?.end());

test('a user is made, changed, logs in, changes the own password, and is deleted', async () => {
  await go('/_utils/-/users');
  const form = page.locator('details.new').filter({ hasText: 'New user' });
  await form.getByLabel('Name').fill('ada');
  await form.getByLabel('Password').fill('first');
  await form.getByLabel('Roles').fill('editors, readers');
  await form.getByRole('button', { name: 'Create' }).click();
  await told('The user was made.');
  const row = page.getByRole('row').filter({ hasText: 'ada' });
  assert.match(await row.innerText(), /editors\s+readers/);
  await row.getByText('Change').click();
  await row.getByLabel('Roles').fill('editors');
  await photographed(page, 'users-changing');
  await row.getByRole('button', { name: 'Save' }).click();
  await told('ada was changed.');
  assert.deepEqual((await ask('GET', '/_users/org.couchdb.user:ada')).roles, ['editors']);

  const own = await browsing.loggedIn({}, 'ada', 'first');
  await own.goto(`${http}/_utils/-/account`);
  await own.getByLabel('New password').fill('second');
  await own.getByRole('button', { name: 'Change it' }).click();
  await own.getByText('Log in to see the databases').waitFor();
  await own.context().close();
  const again = await browsing.loggedIn({}, 'ada', 'second');
  const nobody = await browsing.opened();
  for (const name of ['users', 'replications', 'tasks', 'metrics', 'logs', 'settings', 'backups', 'laboratory']) {
    for (const reader of [again, nobody]) {
      const response = await reader.goto(`${http}/_utils/-/${name}`);
      assert.equal(response.status(), 401, name);
      assert.equal(await reader.locator('table, dl, #lines').count(), 0, name);
    }
  }
  await nobody.context().close();
  await again.context().close();

  // What is on the page is older than the password.
  await row.getByText('Change').click();
  await row.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alert').getByText('409').waitFor();
  await go('/_utils/-/users');
  await row.getByText('Change').click();
  await row.getByRole('button', { name: 'Delete' }).click();
  await told('The user was deleted.');
  assert.equal((await ask('GET', '/_users/org.couchdb.user:ada')).reason, 'deleted');
  assert.deepEqual(page.said, []);
});

test('who may read a database is written as names and roles, and what fits into it as a schema', async () => {
  await go('/_utils/notes/security');
  const members = page.getByRole('group', { name: 'Members' });
  await members.getByLabel('Names').fill('ada, eve');
  await members.getByLabel('Roles').fill('');
  await button('Save').first().click();
  await told('Security was changed.');
  const { members: known, admins } = await ask('GET', '/notes/_security');
  assert.deepEqual([known, admins], [{ roles: [], names: ['ada', 'eve'] }, { roles: ['_admin'], names: [] }]);
  await page.getByText('What documents have to be like').click();
  await written(page, 'Schema', '{"properties": {"n": {"type": "integer"}}}');
  await page.locator('details[open]').getByRole('button', { name: 'Save' }).click();
  await told('The schema holds');
  await go('/_utils/notes/doc/n1');
  await page.getByText('Edit', { exact: true }).click();
  const text = await page.locator('textarea[name=body]').first().inputValue();
  await written(page, 'JSON', text.replace('"n": 1', '"n": "one"'));
  await button('Save').click();
  await page.getByRole('alert').getByText(/403.*n.*integer/s).waitFor();
  await photographed(page, 'schema-refuses');
  await button('Dismiss').click();
  assert.deepEqual(page.said, []);
});

test('a file is added, shown as the picture that it is, and removed', async () => {
  await go('/_utils/notes/doc/n2');
  await page.getByText('Add a file').click();
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==';
  const file = { name: 'a <b> #1?.png', mimeType: 'image/png', buffer: Buffer.from(png, 'base64') };
  await page.getByLabel('File').setInputFiles(file);
  await button('Add it').click();
  await told('The file was added.');
  const picture = page.locator('.attachments img');
  await picture.waitFor();
  assert.equal(await picture.evaluate((own) => own.decode().then(() => own.naturalWidth)), 5);
  await photographed(page, 'attachment');
  await isSound(page, 'with a picture');
  await button('Remove').click();
  await told('The file was removed.');
  assert.equal(await page.locator('.attachments').count(), 0);
  // It stays in the past.
  await page.locator('.line a').nth(-2).click();
  await page.locator('.attachments img').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Remove' }).count(), 0);
});

test('a conflict is resolved member by member', async () => {
  await ask('POST', '/notes/_bulk_docs', { new_edits: false, docs: [
    { _id: 'torn', _rev: '1-a', n: 1, name: HOSTILE, both: true }, { _id: 'torn', _rev: '1-b', n: 2, name: 'b', both: true }] });
  await go('/_utils/notes/doc/torn');
  await page.getByRole('link', { name: /side by side/ }).click();
  await page.getByRole('row', { name: /^n / }).getByRole('radio').nth(1).check();
  const kept = JSON.parse(await page.locator('textarea').inputValue());
  assert.deepEqual(kept, { _id: 'torn', _rev: '1-b', n: 1, name: 'b', both: true });
  await photographed(page, 'conflicts-choosing');
  await isSound(page, 'conflicts');
  await button('Keep this, and discard the others').click();
  await told('The conflict is resolved.');
  const { n, name, _conflicts } = await ask('GET', '/notes/torn?conflicts=true');
  assert.deepEqual([n, name, _conflicts], [1, 'b', undefined]);
});

test('no number of what is stored goes through a double', async () => {
  const raw = (path, init) => page.evaluate(async ([to, how]) => (await fetch(to, how)).text(), [http + path, init]);
  const kept = '"big":12345678901234567890,"10":"ten","small":1e-310,"long":0.1000000000000000055,"in":[{"n":98765432109876543210}]';
  const revision = (rev, n) => `{"_id":"exact","_rev":"1-${rev}","n":${n},${kept}}`;
  const docs = `{"new_edits":false,"docs":[${revision('a', '11111111111111111111')},${revision('b', '2')}]}`;
  await raw('/notes/_bulk_docs', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: docs });
  await go('/_utils/notes/doc/exact/conflicts');
  await page.getByRole('row', { name: /^n / }).getByRole('radio').nth(1).check();
  await button('Keep this, and discard the others').click();
  await told('The conflict is resolved.');
  const now = await raw('/notes/exact');
  // What a client writes is in CouchDB's spelling of the same double.
  assert.ok(now.includes(`"n":11111111111111111111,${kept.replace('0.1000000000000000055', '0.1')}`), now);

  const security = '{"quota":12345678901234567890,"members":{"names":[],"roles":[]}}';
  const headers = { 'Content-Type': 'application/json' };
  await raw('/notes/_security', { method: 'PUT', headers, body: security });
  await go('/_utils/notes/security');
  await page.getByRole('group', { name: 'Members' }).getByLabel('Roles').fill('readers "and" others');
  await button('Save').first().click();
  await told('Security was changed.');
  const changed = await raw('/notes/_security');
  assert.ok(changed.includes('12345678901234567890'), changed);
  assert.deepEqual(JSON.parse(changed).members.roles, ['readers', '"and"', 'others']);
  await raw('/notes/_security', { method: 'PUT', headers, body: '{}' });
});

test('the search field takes words and conditions, marks mistakes, and explains what finds nothing', async () => {
  const search = async (text) => {
    await go(`/_utils/notes?q=${encodeURIComponent(text)}`);
    return page.locator('main').innerText();
  };
  assert.match(await search('tag = a or n = 1'), /\d+ of 6\d · .* · \d+ ms/);
  assert.match(await search('n > 1,000'), /without commas[\s\S]*\^[\s\S]*n0/);
  await photographed(page, 'search-mistake');
  await isSound(page, 'search-mistake');
  assert.match(await search('tga = a'), /no document that was looked at has a member tga; there is tag/);
  assert.match(await search('n12'), /n12/);
  const options = await page.locator('#offers option').evaluateAll((all) => all.map(({ value }) => value));
  assert.ok(options.includes('tag = "a"') && options.includes('n '), options.join());
  // Every list has the field, and a mistake leaves the list where it is.
  for (const [path, text, row] of [
    ['/_utils/', 'documents > 50', 'notes'], ['/_utils/notes/changes', 'n = 4', 'n4'], ['/_utils/-/users', 'name = none', null],
    ['/_utils/notes/indexes', 'tag = a', 'ids'], ['/_utils/notes/compare', 'n = 4', null], ['/_utils/-/tasks', 'type = x', null],
    ['/_utils/-/replications', 'source = x', null],
  ]) {
    await go(`${path}?q=${encodeURIComponent(text)}`);
    if (row) await page.locator('tbody th').getByText(row, { exact: true }).waitFor();
    assert.equal(await page.locator('[data-filter]').inputValue(), text, path);
    await go(`${path}?q=${encodeURIComponent(`${text} and`)}`);
    await page.getByRole('alert').getByText('cannot be understood').waitFor();
    assert.equal(await page.locator('[data-filter]').count(), 1, path);
    if (row) await page.locator('tbody th').getByText(row, { exact: true }).waitFor();
    await isSound(page, path);
  }
  await go('/_utils/notes');
  await page.locator('[data-filter]').fill('n > 3 and ta');
  assert.equal(await page.locator('#offers option[value="n > 3 and tag = \\"a\\""]').count(), 1);
});

test('a replication is begun, kept, watched and ended', async () => {
  const end = (name) => page.getByRole('group', { name, exact: true });
  const begin = async (to, how, live) => {
    await go('/_utils/-/replications');
    if (to.startsWith('http')) {
      await end('To').getByLabel('Name there').fill('adm');
      await end('To').getByLabel('Password there').fill('pass');
    }
    await end('From').getByLabel('Database or URL').fill('notes');
    await end('To').getByLabel('Database or URL').fill(to);
    await page.getByLabel('Make the target').check();
    if (live) await page.getByLabel('Continuous').check();
    await button(how).click();
    await told('The replication was begun.');
  };
  await begin('once', 'Start', false);
  assert.equal((await ask('GET', '/once')).doc_count, (await ask('GET', '/notes')).doc_count);
  await begin(`${http}/far`, 'Start', false);
  assert.equal((await ask('GET', '/far')).doc_count, (await ask('GET', '/notes')).doc_count);
  assert.doesNotMatch(await page.content(), /adm:pass|"pass"/);
  await begin('kept', 'Start and keep', true);
  const row = page.locator('#asked').getByRole('row').filter({ hasText: 'kept' });
  await row.getByText('running').waitFor();
  await photographed(page, 'replications-running');
  await isSound(page, 'replications');
  await go('/_utils/-/tasks');
  await page.locator('#tasks').getByText('kept').waitFor();
  await photographed(page, 'tasks-running');
  await isSound(page, 'tasks');
  await go('/_utils/-/replications');
  await row.getByRole('button', { name: 'Cancel' }).click();
  await told('It ends.');
  await page.locator('#asked').getByText('No document of _replicator').waitFor();
  assert.deepEqual(page.said, []);
});

test('a setting is changed, holds, is refused if it cannot be, and taken back', async () => {
  await go('/_utils/-/settings');
  const field = page.getByLabel('max_document_size');
  const row = page.getByRole('row').filter({ has: field });
  const before = await field.inputValue();
  for (const [value, holds] of [['1000', true], ['many', false]]) {
    await field.fill(value);
    await row.getByRole('button', { name: 'Set' }).click();
    if (holds) await told('The setting holds now.');
    else await page.getByRole('alert').getByText('max_document_size is a number').waitFor();
  }
  assert.equal(await ask('GET', '/_node/_local/_config/couchdb/max_document_size'), '1000');
  await button('Dismiss').click();
  await row.getByRole('button', { name: 'As configured' }).click();
  await told('It is as configured again.');
  assert.equal(await field.inputValue(), before);
  assert.doesNotMatch(await page.content(), /secret/);
  // Names are not typed, and what needs a restart, or is not known, says so.
  await ask('PUT', '/_node/_local/_config/couchdb/delayed_commits', 'true');
  await go('/_utils/-/settings');
  const said = async (key) => page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: key, exact: true }) }).innerText();
  assert.match(await said('port'), /after a restart/);
  assert.match(await said('delayed_commits'), /never/);
  assert.equal(await page.getByLabel('same_site').count(), 1);
  assert.equal(await page.getByLabel('port').count(), 0);
  await ask('DELETE', '/_node/_local/_config/couchdb/delayed_commits');
});

test('what is logged is changed on the page of logs, holds at once, and is taken back', async () => {
  await go('/_utils/-/logs');
  await page.locator('#level').getByText('warn', { exact: true }).waitFor();
  await page.getByLabel('Level').fill('loud');
  await button('Set').click();
  await page.getByRole('alert').getByText('names no level').waitFor();
  await button('Dismiss').click();
  await page.getByLabel('Level').fill('warn,recension_server=debug');
  await button('Set').click();
  await told('That is logged from now on.');
  await page.locator('#level').getByText('warn,recension_server=debug').waitFor();
  await page.locator('#lines').getByText('DEBUG answered').first().waitFor();
  await photographed(page, 'logs-debug');
  await isSound(page, 'logs');
  await button('As configured').click();
  await told('It is as configured again.');
  await page.locator('#level').getByText('warn', { exact: true }).waitFor();
  assert.equal(await ask('GET', '/_node/_local/_config/log/level'), 'warn');
});

test('a backup is made, and a database got back out of it under another name', async () => {
  await ask('PUT', '/notes/with', { _id: 'with', _attachments: { x: { content_type: 'text/plain', data: btoa('hello') } } });
  await go('/_utils/-/backups');
  await button('Make one now').click();
  await told('A backup was made.');
  await ask('DELETE', `/notes/with?rev=${(await ask('GET', '/notes/with'))._rev}`);
  await page.getByLabel('Database', { exact: true }).fill('notes');
  await page.getByLabel('As', { exact: true }).fill('notes-then');
  await photographed(page, 'backups-restoring');
  await isSound(page, 'backups');
  await button('Restore').click();
  await told('The database is back');
  await page.waitForURL('**/_utils/notes-then');
  const file = await fetch(`${http}/notes-then/with/x`, { headers: { Authorization: `Basic ${btoa('adm:pass')}` } });
  assert.equal(await file.text(), 'hello');
  for (const [body, reason] of [
    [{ backup: '../notes', database: 'notes', into: 'x' }, /no such backup/],
    [{ backup: 'backup-20260101T000000Z', database: 'notes', into: 'y' }, /./],
  ]) {
    const answer = await ask('POST', '/_utils/-/restore', body);
    assert.match(answer.reason, reason);
  }
  assert.equal((await ask('GET', '/y')).error, 'not_found');
});

test('metrics are drawn, and go on', async () => {
  await go('/_utils/-/metrics');
  await page.locator('.plots[data-drawn]').waitFor();
  assert.equal(await page.locator('.plots canvas').count(), 6);
  assert.match(await page.locator('#figures').innerText(), /Newest commit/);
  const inked = await page.locator('.plots canvas').first().evaluate((canvas) =>
    canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((byte) => byte > 0));
  assert.ok(inked);
  await photographed(page, 'metrics-drawn');
  await isSound(page, 'metrics');
});

test('a query and an aggregation are asked, pictured, and exported in every form', async () => {
  await go('/_utils/notes/query?kind=find');
  await written(page, 'Query', '{"selector": {"tag": "b"}, "fields": ["_id", "n", "text"], "limit": 5}');
  await button('Run').click();
  await page.locator('.plan-picture').getByText('every document').first().waitFor();
  assert.equal(await page.locator('.wide tbody tr').filter({ hasText: /<b>/ }).count(), 5);
  const exported = async (name) => {
    const to = await page.getByRole('link', { name, exact: true }).last().getAttribute('href');
    return (await page.context().request.get(http + to)).text();
  };
  assert.equal(JSON.parse(await exported('JSON')).docs.length, 5);
  assert.deepEqual(JSON.parse((await exported('NDJSON')).split('\n')[0]), { _id: 'n1', n: 1, text: '<b>1</b>' });
  assert.equal((await exported('CSV')).split('\r\n')[1], 'n1,1,<b>1</b>');
  assert.match(await exported('HTML'), /&lt;b>1|&lt;b&gt;1/);
  await page.getByRole('link', { name: 'Aggregation' }).click();
  await written(page, 'Pipeline', '[{"$group": {"_id": "$tag", "count": {"$count": {}}}}, {"$sort": {"_id": 1}}]');
  await button('Run').click();
  await page.locator('.flow').getByText('$group').waitFor();
  assert.equal((await exported('CSV')).split('\r\n')[0], '_id,count');
  assert.equal(JSON.parse(await exported('JSON')).rows.length >= 3, true);
  await go(`/_utils/notes?q=${encodeURIComponent('tag = c')}&sort=-n&fields=n`);
  assert.equal((await exported('CSV')).split('\r\n').slice(0, 3).join('|'), '_id,n|n59,59|n56,56');
  assert.equal((await exported('NDJSON')).trim().split('\n').length, 20);
  assert.deepEqual(page.said, []);
});

test('a query is made of chosen fields, and a view is asked with its keys and groups', async () => {
  await go('/_utils/notes/query');
  await page.getByLabel('Conditions').fill('n > 5 and tag = b');
  await page.getByRole('group', { name: 'Members of the answer' }).getByLabel('n', { exact: true }).check();
  await page.getByLabel('at most').fill('3');
  await button('Run').click();
  await page.locator('.plan-picture').waitFor();
  assert.deepEqual(await page.locator('.list tbody tr, .wide table tbody tr').filter({ has: page.locator('th a') }).count(), 3);
  await photographed(page, 'query-fields-found');
  await isSound(page, 'a query of fields');
  await page.getByRole('link', { name: 'The same in JSON' }).click();
  assert.match(await page.locator('textarea[name=find]').inputValue(), /"limit": 3/);
  await go('/_utils/notes/query');
  await page.getByLabel('Conditions').fill('n >> 5');
  await button('Run').click();
  await page.getByRole('alert').getByText('cannot be understood').waitFor();
  await ask('POST', '/notes/_index', { index: { fields: ['tag'] }, ddoc: 'bars', name: 'tags' });
  await ask('POST', '/notes/_index', { index: { fields: ['tag', 'n'] }, ddoc: 'bars', name: 'both' });
  await go(`/_utils/notes/query?find=${encodeURIComponent('{"selector": {"tag": "b", "n": 1}}')}`);
  const bars = await page.locator('svg.cost').all();
  assert.ok(bars.length > 1);
  const widths = await Promise.all(bars.map((bar) => bar.evaluate((svg) => svg.getBoundingClientRect().width)));
  assert.ok(widths.every((width) => width > 100), widths.join(' '));
  await photographed(page, 'query-costs');
  await ask('DELETE', '/notes/_index/bars/json/tags');
  await ask('DELETE', '/notes/_index/bars/json/both');
  await ask('PUT', '/grouped');
  await ask('POST', '/grouped/_bulk_docs', { docs: [1, 2, 3].map((n) => ({ _id: `g${n}`, kind: n < 3 ? 'a' : 'b', n })) });
  await ask('PUT', '/grouped/_design/own', { views: { kinds: { map: 'function (doc) { emit([doc.kind, doc.n], doc.n) }', reduce: '_sum' } } });
  await go('/_utils/grouped/query?kind=views');
  await photographed(page, 'query-views-form');
  await page.getByLabel('Reduced').selectOption('1');
  await button('Run').click();
  await page.waitForURL('**group_level=1**');
  assert.match(await page.locator('table').innerText(), /"a"[^]*3[^]*"b"[^]*3/);
  assert.deepEqual(page.said, []);
});

test('a query is compared with what it answered before, and each row with what it said', async () => {
  await ask('PUT', '/scores');
  const put = async (docs) => {
    await ask('POST', '/scores/_bulk_docs', { docs });
    return (await ask('GET', '/scores')).update_seq.split('-')[1];
  };
  const rev = async (id) => (await ask('GET', `/scores/${id}`))._rev;
  const then = await put([['ann', 90], ['bob', 80], ['cid', 70], ['dan', 60]].map(([_id, score]) => ({ _id, score, team: 'red' })));
  await put([
    { _id: 'bob', _rev: await rev('bob'), score: 95, team: 'blue', note: HOSTILE }, { _id: 'cid', _rev: await rev('cid'), score: 1 },
    { _id: HOSTILE, score: 99, team: HOSTILE },
  ]);
  await go('/_utils/scores/query?kind=find');
  await written(page, 'Query', '{"selector": {"score": {"$gt": 50}}}');
  await button('Run').click();
  await page.getByLabel('Before').fill(then);
  await photographed(page, 'query-to-compare');
  await button('Compare with another moment').click();
  await page.getByText('1 came, 1 changed, 1 went, 2 stayed the same.').waitFor();
  const rows = (await page.locator('tbody tr').allInnerTexts()).map((row) => row.replace(/\s+/g, ' ').trim());
  assert.ok(rows[0].startsWith(`${HOSTILE} came 1 no row`), rows[0]);
  assert.equal(rows[1], `bob changed 2 → 3 score 80 team red note absent score 95 team blue note ${HOSTILE}`);
  assert.ok(rows[2].startsWith('cid went 3 ') && rows[2].endsWith('no row'), rows[2]);
  await photographed(page, 'query-compared');
  await isSound(page, 'answers beside each other');
  const to = await page.getByRole('link', { name: 'NDJSON', exact: true }).getAttribute('href');
  const lines = (await (await page.context().request.get(http + to)).text()).trim().split('\n').map(JSON.parse);
  assert.deepEqual(lines.map(({ id, what }) => [id, what]), [[HOSTILE, 'came'], ['bob', 'changed'], ['cid', 'went']]);
  await page.getByRole('link', { name: 'bob' }).click();
  assert.match(await page.locator('table').innerText(), /score\s+80\s+95/);
  await page.goBack();
  await page.getByRole('link', { name: 'Back to the query' }).click();
  await page.locator('.plan-picture').waitFor();
  // From the past one compares with now.
  await go(`/_utils/scores/query?at=${then}&pipeline=${encodeURIComponent('[{"$group": {"_id": "$team", "n": {"$count": {}}}}]')}`);
  await button('Compare with another moment').click();
  await page.getByText('3 came, 1 changed, 0 went').waitFor();
  await photographed(page, 'groups-compared');
  assert.deepEqual(page.said, []);
});

test('a facet and a view are exported in every form', async () => {
  const get = async (link) => (await page.context().request.get(http + await link.getAttribute('href'))).text();
  await go(`/_utils/notes?q=${encodeURIComponent('n < 7 and tag >= a')}&facet=tag`);
  const facet = (name) => get(page.locator('.facet .exports').getByRole('link', { name, exact: true }));
  assert.equal(await facet('CSV'), 'value,count\r\na,3\r\nb,2\r\nc,2\r\n');
  assert.deepEqual(JSON.parse(await facet('JSON')).rows[0], { value: 'a', count: 3 });
  assert.equal((await facet('NDJSON')).split('\n')[1], '{"value":"b","count":2}');
  assert.match(await facet('HTML'), /<td>a<\/td>|>a</);
  await photographed(page, 'facet');
  // More values than a page shows, some of them markup, one too long to be counted.
  await go(`/_utils/notes?facet=text`);
  assert.match(await page.locator('.facet').innerText(), /4\d other values/);
  assert.equal((await facet('CSV')).trim().split('\r\n').filter((line) => /^<b>\d+<\/b>,1$/.test(line)).length, 60);
  await ask('PUT', '/notes/long', { text: 'x'.repeat(300) });
  const { status, reason } = await (await page.context().request.get(`${http}/_utils/notes/export?of=facet&facet=text&format=csv`)).json();
  assert.match(reason, /1 of 6\d documents .*longer than 200 bytes/);
  assert.equal(status, undefined);
  await ask('DELETE', `/notes/long?rev=${(await ask('GET', '/notes/long'))._rev}`);
  await ask('PUT', '/notes/_design/d', { views: { by_tag: { map: 'function (doc) { if (doc.tag && doc.n < 2) emit(doc.tag, doc.text) }' } } });
  await go('/_utils/notes/indexes');
  const view = page.getByRole('row').filter({ hasText: 'by_tag' });
  assert.equal(await get(view.getByRole('link', { name: 'CSV' })), 'id,key,value\r\nn0,a,<b>0</b>\r\nn1,b,<b>1</b>\r\n');
  await photographed(page, 'views');
  await view.getByRole('link', { name: 'by_tag' }).click();
  await page.getByRole('link', { name: 'NDJSON' }).waitFor();
  assert.match(await page.locator('table').innerText(), /<b>1<\/b>/);
  assert.equal(await page.locator('b').count(), 0);
  await photographed(page, 'plain-view');
  await isSound(page, 'a page of a view');
  assert.match(await get(page.getByRole('link', { name: 'CSV' })), /^id,key,value\r\nn0,a/);
  await ask('DELETE', `/notes/_design/d?rev=${(await ask('GET', '/notes/_design/d'))._rev}`);
});

test('what another writes is told, and a list stays as it is', async () => {
  await go('/_utils/notes');
  await ask('PUT', '/notes/0newer', {});
  await page.locator('.newer').getByText('1 change since').click();
  await page.getByRole('link', { name: '0newer' }).waitFor();
  assert.deepEqual(page.said, []);
});

test('the editor is fetched when somebody edits, and not before', async () => {
  const other = await browsing.loggedIn();
  const fetched = [];
  other.on('request', (request) => fetched.push(new URL(request.url()).pathname));
  for (const path of ['/_utils/', '/_utils/notes', '/_utils/notes/doc/n3', '/_utils/notes/security']) {
    await other.goto(http + path);
    await other.waitForLoadState('networkidle').catch(() => {});
  }
  assert.ok(!fetched.some((path) => path.endsWith('/editor.js')) && fetched.some((path) => path.endsWith('/console.js')), fetched.join(' '));
  await other.goto(`${http}/_utils/notes/doc/n3`);
  await other.getByText('Edit', { exact: true }).click();
  await other.locator('.cm-content').waitFor();
  assert.ok(fetched.some((path) => path.endsWith('/editor.js')));
  assert.deepEqual(other.said, []);
  await other.context().close();
});

test('one gets about by keyboard alone', async () => {
  await go('/_utils/notes');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the content');
  await page.keyboard.press('Enter');
  await page.keyboard.press('/');
  await page.keyboard.type('tag = a');
  await page.keyboard.press('Enter');
  await page.waitForURL('**q=tag*');
  await go('/_utils/notes?rows=20');
  await page.keyboard.press(']');
  await page.waitForURL('**after=*');
  // Every control has a name and can be reached.
  const reached = new Set();
  for (let n = 0; n < 40; n++) {
    await page.keyboard.press('Tab');
    reached.add(await page.evaluate(() => document.activeElement.getAttribute('name') ?? document.activeElement.tagName));
  }
  for (const name of ['at', 'q', 'SUMMARY', 'A', 'BUTTON']) assert.ok(reached.has(name), [...reached].join(' '));
});

test('behind a proxy with a path of its own, every link leads there', async () => {
  const { hostname, port } = new URL(http);
  const proxy = createServer((request, response) => {
    if (!request.url.startsWith('/a%20b/')) return response.writeHead(404).end('elsewhere');
    const headers = { ...request.headers, 'x-forwarded-prefix': '/a%20b' };
    const on = { hostname, port, path: request.url.slice('/a%20b'.length), method: request.method, headers };
    const out = forward(on, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    response.on('close', () => out.destroy());
    out.on('error', () => response.destroy());
    request.pipe(out);
  });
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${proxy.address().port}/a%20b`;
  const other = await browsing.loggedIn({}, 'adm', 'pass', base);
  for (const path of ['/_utils/', '/_utils/notes', '/_utils/notes/doc/n4', '/_utils/notes/query', '/_utils/notes/query/compare?find={}&from=1', '/_utils/notes/changes',
    '/_utils/notes/indexes', '/_utils/notes/security', '/_utils/-/users', '/_utils/-/replications', '/_utils/-/metrics',
    '/_utils/-/settings', '/_utils/-/backups', '/notes/_all_docs?limit=3', '/notes', '/notes/n4', '/notes/n4/_history']) {
    await other.goto(base + path);
    const names = ['href', 'src', 'action', 'data-to', 'data-then', 'data-live', 'data-place', 'data-newer', 'data-samples', 'data-merge', 'data-resolve'];
    const astray = await other.evaluate((names) => names.flatMap((name) =>
      [...document.querySelectorAll(`[${name}]`)].map((own) => own.getAttribute(name))
        .filter((to) => !/^(\/a%20b\/|#|\?|https?:)/.test(to)).map((to) => `${name}=${to}`)), names);
    assert.deepEqual(astray, [], path);
  }
  await other.goto(`${base}/_utils/notes/doc/n4`);
  await other.getByText('Edit', { exact: true }).click();
  await written(other, 'JSON', JSON.stringify({ ...(await ask('GET', '/notes/n4')), through: 'the proxy' }));
  await other.getByRole('button', { name: 'Save' }).click();
  await other.getByRole('status').getByText('It was saved.').waitFor();
  assert.equal((await ask('GET', '/notes/n4')).through, 'the proxy');
  await other.getByRole('button', { name: 'Log out' }).click();
  await other.getByText('Log in to see the databases').waitFor();
  assert.deepEqual(other.said, []);
  await other.context().close();
  proxy.closeAllConnections();
  proxy.close();
});
