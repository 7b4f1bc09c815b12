// The console and the pages of answers in real Chromium: every page, with documents that would like to be markup, in
// light, dark and on a phone; that it reads without JavaScript, without rights, and with a screen reader (axe-core);
// and what one does with documents. console-server.test.js has the pages of the server, and what is behind a proxy.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browsing, isSound, photographed, written } from './browsing.js';

const HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>';
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==';
let browsing, http, first;
const ask = (...request) => browsing.ask(...request);
const opened = (options) => browsing.opened(options);
const loggedIn = (...who) => browsing.loggedIn(...who);

before(async () => {
  browsing = await new Browsing().start();
  http = browsing.http;
  await ask('PUT', '/cities');
  await ask('PUT', '/cities/_security', { members: { names: ['ada'] } });
  await ask('PUT', '/_users/org.couchdb.user:eve', { name: 'eve', password: 'eve', roles: [], type: 'user' });
  const countries = ['PT', 'ES', 'IS', 'FR'];
  const docs = Array.from({ length: 120 }, (_, n) => ({
    _id: `city-${String(n).padStart(3, '0')}`, name: ['Porto', 'Lisboa', 'Reykjavík', 'Zürich'][n % 4] + ` ${n}`,
    countrycode: countries[n % 4], population: 1000 * n * n + 17, position: { lat: 41.15 - n / 9, lon: -8.61 + n / 7 },
    updated: '2026-01-31',
  }));
  docs.push({
    _id: HOSTILE, name: HOSTILE, [HOSTILE]: [HOSTILE, { deep: HOSTILE }], countrycode: '<b>XX</b>', link: 'javascript:alert(3)',
    home: 'https://example.org/?a=1&b=2', rtl: '\u202egnirts \u05d0\u05d1', long: 'x'.repeat(1_000_000), nul: 'a\u0000b',
    _attachments: {
      'a"><b>.png': { content_type: 'image/png', data: png },
      'page.html': { content_type: 'text/html', data: btoa('<script>alert(4)</script>') },
      'odd': { content_type: 'text/html"><script>alert(5)</script>', data: btoa('x') },
    },
  });
  await ask('POST', '/cities/_bulk_docs', { docs });
  first = (await ask('GET', '/cities')).update_seq.split('-')[1];
  const porto = await ask('GET', '/cities/city-000');
  await ask('PUT', '/cities/city-000', { ...porto, population: 231962, note: 'counted again' });
  await ask('POST', '/cities/_bulk_docs', { new_edits: false, docs: [
    { _id: 'torn', _rev: '1-a', v: 1 }, { _id: 'torn', _rev: '1-b', v: 2, also: true }] });
});

after(() => browsing?.end());

const hostile = encodeURIComponent(HOSTILE);
const pages = () => ({
  databases: '/_utils/',
  documents: '/_utils/cities',
  filtered: `/_utils/cities?q=${encodeURIComponent('population > 1000000')}&sort=-population&facet=countrycode&fields=name,countrycode,population,position.lat`,
  past: `/_utils/cities?at=${first}`,
  document: '/_utils/cities/doc/city-000',
  'document-beside': `/_utils/cities?fields=name,countrycode,population&doc=city-000`,
  'new-document': '/_utils/cities/new',
  'new-file': '/_utils/cities/new?from=file',
  'document-then': `/_utils/cities/doc/city-000?at=${first}`,
  'document-hostile': `/_utils/cities/doc/${hostile}`,
  'document-torn': '/_utils/cities/doc/torn',
  difference: `/_utils/cities/doc/city-000/compare?from=${first}&to=now`,
  compare: `/_utils/cities/compare?from=${first}&to=now`,
  'compare-filtered': `/_utils/cities/compare?from=${first}&to=now&q=${encodeURIComponent('countrycode = PT')}`,
  'facet-hostile': `/_utils/cities?facet=name&q=${encodeURIComponent(`countrycode = "<b>XX</b>"`)}`,
  changes: '/_utils/cities/changes',
  indexes: `/_utils/cities/indexes?q=${encodeURIComponent('name = Porto')}`,
  security: '/_utils/cities/security',
  missing: '/_utils/cities/doc/none',
  query: '/_utils/cities/query',
  'query-json': '/_utils/cities/query?kind=find',
  'query-views': '/_utils/cities/query?kind=views',
  'query-fields': `/_utils/cities/query?kind=fields&q=${encodeURIComponent('population > 9000000')}&fields=name&fields=population&sort=population&order=desc&limit=5`,
  'query-found': `/_utils/cities/query?find=${encodeURIComponent(
    '{"selector": {"$or": [{"countrycode": "PT"}, {"population": {"$gt": 9000000}}]}, "fields": ["_id", "name", "population"], "limit": 20}')}`,
  'query-aggregate': `/_utils/cities/query?pipeline=${encodeURIComponent(
    '[{"$match": {"population": {"$gt": 1000}}}, {"$group": {"_id": "$countrycode", "count": {"$count": {}}}}, {"$sort": {"count": -1}}]')}`,
  'query-wrong': `/_utils/cities/query?find=${encodeURIComponent('{"selector": {"a": {"$no": 1}}}')}`,
  'query-compare': `/_utils/cities/query/compare?from=${first}&to=now&find=${encodeURIComponent(
    '{"selector": {"$or": [{"population": {"$lt": 500000}}, {"_id": {"$gte": "t"}}]}, "limit": 300}')}`,
  'query-compare-hostile': `/_utils/cities/query/compare?from=1&to=now&find=${encodeURIComponent(
    `{"selector": {"_id": {"$gte": ${JSON.stringify(HOSTILE)}, "$lt": "city-003"}}}`)}`,
  'query-compare-groups': `/_utils/cities/query/compare?from=${first}&to=now&pipeline=${encodeURIComponent(
    '[{"$group": {"_id": "$countrycode", "people": {"$sum": "$population"}, "count": {"$count": {}}}}, {"$sort": {"people": -1}}]')}`,
  'query-compare-wrong': `/_utils/cities/query/compare?from=${encodeURIComponent(HOSTILE)}&to=now&find=${encodeURIComponent('{"selector": {}}')}`,
  conflicts: '/_utils/cities/doc/torn/conflicts',
  'conflicts-none': '/_utils/cities/doc/city-001/conflicts',
  users: '/_utils/-/users',
  replications: '/_utils/-/replications',
  tasks: '/_utils/-/tasks',
  metrics: '/_utils/-/metrics',
  logs: '/_utils/-/logs',
  settings: '/_utils/-/settings',
  backups: '/_utils/-/backups',
  laboratory: '/_utils/-/laboratory',
  'plain-root': '/',
  'plain-database': '/cities',
  'plain-list': '/cities/_all_docs?include_docs=true&limit=50',
  'plain-document': `/cities/${hostile}`,
  'plain-history': '/cities/city-000/_history',
  'plain-changes': '/cities/_changes?limit=20',
  'plain-tasks': '/_active_tasks',
  'plain-settings': '/_node/_local/_config',
});

// In the dark only colours differ from what is looked at first, and on a phone everything but them. A page is opened once
// and then changed, as by whoever turns the phone; with RECENSION_LONG it is opened anew for each look.
const looks = [
  ['', { colorScheme: 'light' }, { width: 1280, height: 860 }, {}],
  ['dark-', { colorScheme: 'dark' }, { width: 1280, height: 860 }, { runOnly: ['color-contrast'] }],
  ['phone-', { colorScheme: 'light' }, { width: 390, height: 844 }, { rules: { 'color-contrast': { enabled: false } } }],
];

test('every page is sound, with hostile documents, and looks like this', async () => {
  const page = await loggedIn();
  for (const [name, path] of Object.entries(pages())) {
    for (const [look, media, size, rules] of looks) {
      await page.emulateMedia(media);
      await page.setViewportSize(size);
      if (!look || process.env.RECENSION_LONG) await page.goto(http + path);
      await photographed(page, look + name);
      await isSound(page, look + path, rules);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth + 1);
      assert.equal(wide, false, `${look}${name} is wider than its window`);
    }
    assert.equal(await page.locator('script:not([src])').count(), 0, path);
    assert.equal(await page.locator('b, img[src="x"]').count(), 0, path);
  }
  await page.context().close();
});

test('on a phone the first row is within the first third of the screen', async () => {
  const page = await loggedIn({ viewport: { width: 390, height: 844 } });
  await page.goto(`${http}/_utils/cities`);
  const top = await page.locator('tbody tr').first().evaluate((row) => row.getBoundingClientRect().top);
  assert.ok(top <= 844 / 3, `it is at ${top}`);
  await page.context().close();
});

test('pages read without JavaScript', async () => {
  const page = await loggedIn({ javaScriptEnabled: false });
  await page.goto(`${http}/_utils/cities`);
  await page.getByLabel('Search').fill('countrycode = IS');
  await page.getByRole('button', { name: 'Search' }).click();
  assert.match(await page.locator('table').innerText(), /Reykjavík/);
  await page.getByRole('link', { name: 'city-002' }).click();
  assert.match(await page.locator('dl.members').innerText(), /Reykjavík 2/);
  await page.goto(`${http}/_utils/cities`);
  const seen = new Set();
  for (let n = 0; n < 5; n++) {
    for (const id of await page.locator('tbody th').allInnerTexts()) seen.add(id);
    const next = page.getByRole('link', { name: 'Next', exact: true });
    if (!(await next.count())) break;
    await next.click();
  }
  assert.equal(seen.size, 122);
  // What a query answers at two moments, with forms alone.
  await page.goto(`${http}/_utils/cities/query?kind=find`);
  await page.locator('textarea[name=find]').fill('{"selector": {"population": {"$lt": 9000}}, "fields": ["_id", "population"]}');
  await page.getByRole('button', { name: 'Run' }).click();
  await page.getByLabel('Before').fill(first);
  await page.getByRole('button', { name: 'Compare with another moment' }).click();
  assert.match(await page.locator('tbody tr').first().innerText(), /city-000\s+went\s+1/);
  await page.getByLabel('Before').fill('now');
  await page.getByLabel('After').fill(first);
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  assert.match(await page.locator('tbody tr').first().innerText(), /city-000\s+came\s+1/);
  await page.context().close();
});

test('who has no right sees nothing of it', async () => {
  for (const page of [await opened(), await loggedIn({}, 'eve', 'eve')]) {
    for (const path of Object.values(pages()).filter((path) => path.includes('/cities'))) {
      await page.goto(http + path);
      const text = await page.locator('body').innerText();
      assert.doesNotMatch(text, /Porto|231962|Reykjav/, path);
    }
    for (const name of ['users', 'replications', 'tasks', 'metrics', 'logs', 'settings', 'backups', 'laboratory']) {
      const status = (await page.goto(`${http}/_utils/-/${name}`)).status();
      assert.ok([401, 403].includes(status), `${name}: ${status}`);
      assert.doesNotMatch(await page.locator('main').innerText(), /max_document_size|eve@|org\.couchdb|Make one now|DEBUG|WARN/, name);
    }
    for (const of of ['facet&facet=name', 'changes', 'differences', 'differences&find={"selector":{}}']) {
      const answer = await page.context().request.get(`${http}/_utils/cities/export?format=csv&of=${of}`);
      assert.ok([401, 403].includes(answer.status()), of);
    }
    await page.goto(`${http}/_utils/`);
    assert.doesNotMatch(await page.locator('main').innerText(), /cities/);
    await isSound(page, 'without rights');
    await page.context().close();
  }
});

test('a wrong password is asked for again, and leads to where one wanted to go', async () => {
  const page = await opened();
  await page.goto(`${http}/_utils/cities/doc/city-000`);
  for (const password of ['wrong', 'pass']) {
    await page.getByLabel('Name', { exact: true }).fill('adm');
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Log in' }).click();
    if (password === 'wrong') {
      await page.getByRole('alert').getByText('Name or password is wrong').waitFor();
      assert.match(page.url(), /\/_utils\/-\/log-in/);
    }
  }
  await page.waitForURL('**/doc/city-000');
  assert.match(await page.locator('dl.members').innerText(), /Porto 0/);
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByText('Log in to see the databases').waitFor();
  assert.deepEqual(page.said, []);
  await page.context().close();
});

test('a document is made, edited, seen as it was, restored, and that is undone', async () => {
  const page = await loggedIn();
  await page.getByLabel('New database').fill('notes');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.waitForURL('**/_utils/notes');
  await page.getByText('New document').click();
  await written(page, 'JSON', '{"_id": "a/b?", "text": "one", }');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('alert').getByText('no JSON yet').waitFor();
  await written(page, 'JSON', `{"_id": "a/b?", "text": "one", "html": ${JSON.stringify(HOSTILE)}}`);
  await page.getByRole('button', { name: 'Create' }).click();
  await page.waitForURL('**?doc=a%2Fb%3F');
  await page.getByRole('link', { name: 'Open alone' }).click();
  await page.getByText('Edit', { exact: true }).click();
  const text = await page.locator('textarea[name=body]').inputValue();
  await written(page, 'JSON', text.replace('"one"', '"two"'));
  await photographed(page, 'editor');
  await page.keyboard.press('Control+s');
  await page.getByText('two', { exact: true }).first().waitFor();
  await page.locator('.line a').first().click();
  await page.getByText('This is the past').waitFor();
  assert.match(await page.locator('dl.members').innerText(), /one/);
  await photographed(page, 'restore');
  await page.getByRole('button', { name: 'Restore this version' }).click();
  await page.getByText('Restored.').waitFor();
  await page.getByRole('status').getByText('It is the newest version now.').waitFor();
  assert.match(await page.locator('dl.members').innerText(), /one/);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.locator('.line li:nth-child(4)').waitFor();
  assert.match(await page.locator('dl.members').innerText(), /two/);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Deleted at commit').waitFor();
  await page.getByRole('button', { name: 'Restore what it said before' }).click();
  await page.locator('dl.members').waitFor();
  assert.deepEqual(page.said, []);
  await page.context().close();
});

test('what another has changed meanwhile is not written over: both texts are shown, and one chooses', async () => {
  const page = await loggedIn();
  await page.goto(`${http}/_utils/cities/doc/city-005`);
  const now = await ask('GET', '/cities/city-005');
  await ask('PUT', '/cities/city-005', { ...now, by: 'another', population: 5 });
  await page.getByText('Edit', { exact: true }).click();
  await written(page, 'JSON', JSON.stringify({ ...now, name: HOSTILE, population: 6 }));
  await page.getByRole('button', { name: 'Save' }).first().click();
  await page.getByText('Nothing of yours is saved yet').waitFor();
  await photographed(page, 'faster');
  await isSound(page, 'what another was faster with');
  const row = (name) => page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) });
  // What only one side has changed is chosen already; what both have is theirs until one says otherwise.
  assert.equal(await row('name').getByLabel('Keep of yours').isChecked(), true);
  assert.equal(await row('by').getByLabel('Keep of yours').isChecked(), false);
  await row('population').getByLabel('Keep of yours').check();
  await page.getByRole('button', { name: 'Save this' }).click();
  await page.getByRole('status').getByText('The conflict is resolved.').waitFor();
  const { name, by, population } = await ask('GET', '/cities/city-005');
  assert.deepEqual([name, by, population], [HOSTILE, 'another', 6]);
  page.said = page.said.filter((text) => !text.includes('409'));
  assert.deepEqual(page.said, []);
  await page.context().close();
});

test('a document opens beside its list, and is edited there by its types', async () => {
  await ask('PUT', '/types');
  const doc = { 'a/b': 'text', big: 0, yes: true, list: [1, { x: 'y' }], none: null };
  await ask('PUT', '/types/one', doc);
  const raw = (path, options) => fetch(`${http}${path}`, { ...options, headers: { Authorization: `Basic ${btoa('adm:pass')}`, 'Content-Type': 'application/json' } });
  await raw(`/types/one?rev=${(await ask('GET', '/types/one'))._rev}`, { method: 'PUT', body: JSON.stringify(doc).replace('"big":0', '"big":123456789012345678901') });
  const page = await loggedIn();
  await page.goto(`${http}/_utils/types`);
  await page.getByRole('link', { name: 'one', exact: true }).click();
  const beside = page.getByRole('complementary', { name: 'Document' });
  assert.match(await beside.innerText(), /123456789012345678901/);
  assert.equal(await page.locator('tbody tr').count(), 1, 'the list stays');
  await photographed(page, 'beside');
  await isSound(page, 'a document beside its list');
  await page.getByRole('link', { name: 'Edit', exact: true }).click();
  await beside.getByRole('textbox', { name: 'a/b' }).fill('other');
  await beside.getByRole('combobox', { name: 'yes' }).selectOption('false');
  await beside.getByRole('button', { name: 'Save' }).last().click();
  await page.getByRole('status').getByText('It was saved.').waitFor();
  const text = await (await raw('/types/one')).text();
  assert.match(text, /"a\/b":"other"/);
  assert.match(text, /"big":123456789012345678901/);
  assert.match(text, /"yes":false/);
  await beside.getByRole('link', { name: 'Close' }).click();
  assert.equal(await beside.count(), 0);
  assert.deepEqual(page.said, []);
  await page.context().close();
});

test('the slider, facets, conflicts and changes that come', async () => {
  const page = await loggedIn();
  await page.goto(`${http}/_utils/cities`);
  await page.locator('[data-moment]').evaluate((slider) => {
    slider.value = slider.min;
    slider.dispatchEvent(new Event('change'));
  });
  await page.getByText('This is the past').waitFor();
  assert.match(new URL(page.url()).searchParams.get('at'), /^\d{4}-\d\d-\d\dT/);
  // Dates, marks of changes, and how long ago, with the exact time behind it.
  assert.equal(await page.locator('.dates li').count(), 4);
  assert.match(await page.locator('.growth path').getAttribute('d'), /M\d+ 0v6/);
  assert.match(await page.locator('.slider time').getAttribute('title'), /^\d{4}-/);
  assert.match(await page.locator('.slider time').innerText(), /ago|just now/);
  await page.goto(`${http}/_utils/cities?facet=countrycode`);
  await page.locator('.facet').getByRole('link', { name: 'PT' }).click();
  await page.waitForURL('**q=countrycode*');
  assert.doesNotMatch(await page.locator('table').innerText(), /Lisboa/);
  await page.goto(`${http}/_utils/cities/doc/torn`);
  await page.getByRole('link', { name: 'Compare', exact: true }).click();
  assert.match(await page.locator('table').innerText(), /also/);
  await page.goBack();
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.waitForFunction(() => !document.querySelector('.conflicts'));
  await page.goto(`${http}/_utils/cities/changes`);
  assert.match(await page.locator('#changes time').first().innerText(), /ago|just now/);
  await page.getByRole('button', { name: 'Follow' }).click();
  await ask('PUT', `/cities/${encodeURIComponent('new<i>')}`, {});
  await page.locator('#changes').getByText('new<i>').waitFor();
  assert.deepEqual(page.said, []);
  await page.context().close();
});

test('the databases that one may read are beside every page, and no others', async () => {
  await ask('PUT', '/_users/org.couchdb.user:ada', { name: 'ada', password: 'ada', roles: [], type: 'user' });
  const shown = async (page) => {
    await page.goto(`${http}/_utils/`);
    return page.locator('.side').innerText();
  };
  const [adm, ada, eve] = [await loggedIn(), await loggedIn({}, 'ada', 'ada'), await loggedIn({}, 'eve', 'eve')];
  for (const page of [adm, ada]) {
    assert.match(await shown(page), /cities\s+12\d/);
    assert.match(await page.locator('main').innerText(), /cities/);
    await isSound(page, 'databases');
  }
  assert.doesNotMatch(await eve.locator('body').innerText(), /cities/);
  assert.equal(await ada.locator('.gear').count(), 0);
  assert.equal((await ask('PUT', '/_node/_local/_config/chttpd/require_valid_user', 'true')) !== undefined, true);
  const nobody = await opened();
  await ask('PUT', '/open', undefined);
  await ask('PUT', '/open/_security', { members: { names: [], roles: [] }, admins: { names: [], roles: [] } });
  assert.doesNotMatch(await shown(nobody), /open/);
  await ask('PUT', '/_node/_local/_config/chttpd/require_valid_user', 'false');
  assert.match(await shown(nobody), /open/);
  await adm.goto(`${http}/_utils/cities`);
  await adm.locator('.gear summary').click();
  await photographed(adm, 'gear');
  await adm.locator('.gear').getByRole('link', { name: 'Users' }).click();
  await adm.waitForURL('**/_utils/-/users');
  for (const page of [adm, ada, eve, nobody]) await page.context().close();
});

test('files are imported, rows chosen, exported and deleted, and pages have numbers', async () => {
  await ask('PUT', '/files');
  const page = await loggedIn();
  await page.goto(`${http}/_utils/files`);
  await page.getByText('There are no documents here yet').waitFor();
  await photographed(page, 'no-documents');
  const take = async (name, text, said) => {
    await page.goto(`${http}/_utils/files`);
    await page.locator('.tools a').getByText('Import a file').click();
    await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
    await page.getByRole('button', { name: 'Import' }).click();
    await page.getByText(said).first().waitFor();
  };
  const rows = Array.from({ length: 120 }, (_, n) => `r${String(n).padStart(3, '0')},"${HOSTILE.replaceAll('"', '""')}",${n}.5`);
  await take('a.csv', `_id,name,n\r\n${rows.join('\r\n')}\r\n`, '120 documents were imported.');
  const raw = await fetch(`${http}/files/r007`, { headers: { Authorization: `Basic ${btoa('adm:pass')}` } });
  const text = await raw.text();
  assert.match(text, /"n":7\.5/);
  assert.equal(JSON.parse(text).name, HOSTILE);
  await take('b.json', '[{"_id": "s1", "n": 123456789012345678901}, {"_id": "s2", "list": [1, {"a": "],"}]}]', '2 documents were imported.');
  assert.match(await (await page.context().request.get(`${http}/files/s1`)).text(), /123456789012345678901/);
  await take('c.ndjson', '{"_id": "t1"}\n{"_id": "t2"}\n', '2 documents were imported.');
  await take('d.json', '{"docs": [{"_id": "u1"}], "more": [1]}', '1 documents were imported.');
  await take('e.json', '[{"_id": "v1"}, oh]', 'Nothing was imported');
  await take('f.csv', '_id,name\nr001,again\n', 'and 1 refused');
  assert.equal((await ask('GET', '/files')).doc_count, 125);
  await page.goto(`${http}/_utils/files?q=n+<+10`.replace('<', '%3C'));
  const all = page.getByLabel('Choose all rows of this page');
  assert.equal(await page.getByRole('button', { name: 'Delete' }).isDisabled(), true);
  await all.check();
  await page.getByLabel('Choose r003', { exact: true }).uncheck();
  await photographed(page, 'chosen');
  await isSound(page, 'chosen rows');
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#chosen').getByRole('button', { name: 'NDJSON' }).click()]);
  const lines = [];
  for await (const piece of await download.createReadStream()) lines.push(piece.toString());
  assert.equal(lines.join('').trim().split('\n').length, 9);
  // One of them is changed meanwhile: that one stays.
  const now = await ask('GET', '/files/r005');
  await ask('PUT', '/files/r005', { ...now, by: 'another' });
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alert').getByText('8 were deleted, 1 not: r005').waitFor();
  assert.equal((await ask('GET', '/files')).doc_count, 117);
  await page.goto(`${http}/_utils/files`);
  const pages = page.locator('nav.pages');
  await pages.getByRole('link', { name: '3', exact: true }).click();
  assert.equal(await page.locator('tbody tr').count(), 17);
  assert.match(await pages.locator('[aria-current]').innerText(), /^Page\s3$/);
  await pages.getByRole('link', { name: 'Previous' }).click();
  assert.match(await pages.locator('[aria-current]').innerText(), /^Page\s2$/);
  await pages.getByRole('link', { name: 'Next', exact: true }).click();
  assert.equal(await page.locator('tbody tr').count(), 17);
  await page.getByText('Columns').click();
  await page.getByLabel('n', { exact: true }).check();
  await page.getByRole('button', { name: 'Show these' }).click();
  assert.doesNotMatch(await page.locator('thead').innerText(), /name/);
  await page.context().close();
});

test('attachments do not run, and a page of another site changes nothing', async () => {
  const page = await loggedIn();
  await page.goto(`${http}/cities/${hostile}/page.html`);
  assert.deepEqual(page.said.filter((text) => text.startsWith('dialog')), []);
  page.said = [];
  const cookies = await page.context().cookies();
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  const forged = await fetch(`${http}/cities`, {
    method: 'POST', body: '{"forged":true}', headers: { Cookie: cookie, 'Sec-Fetch-Site': 'cross-site', 'Content-Type': 'application/json' },
  });
  assert.equal(forged.status, 403);
  await page.context().close();
});
