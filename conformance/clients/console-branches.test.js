// Branches and tags in the console, in real Chromium: made, opened, compared, merged with a conflict in view, dropped;
// and that nobody but a server admin sees any of it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browsing, isSound, photographed } from './browsing.js';

const HOSTILE = '<script>alert(1)</script>';
let browsing, http, page;
const ask = (...request) => browsing.ask(...request);
const go = (path) => page.goto(http + path);
const told = (text) => page.getByRole('status').getByText(text).waitFor();
const row = (name) => page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) });
const set = async (path, change) => ask('PUT', path, { ...(await ask('GET', path)), ...change });

before(async () => {
  browsing = await new Browsing().start();
  http = browsing.http;
  await ask('PUT', '/orders');
  await ask('POST', '/orders/_bulk_docs', { docs: [
    { _id: '17', item: 'pizza', price: 9, state: 'open' }, { _id: '18', item: 'soup', price: 5, state: 'open' },
    { _id: '19', item: 'tea', price: 2, state: 'open' }] });
  page = await browsing.loggedIn();
});

after(() => browsing?.end());

async function make(what, name, button) {
  await go('/_utils/-/branches');
  await page.getByText(what, { exact: true }).click();
  const form = page.locator('details.new').filter({ hasText: what });
  await form.getByLabel('Name').fill(name);
  await form.getByRole('button', { name: button }).click();
}

test('a branch is made, opened, compared, merged with its conflict in view, and dropped', async () => {
  await make('New tag', 'before', 'Make the tag');
  await told('It was made.');
  await make('New branch', 'prices', 'Make the branch');
  await told('It was made.');
  await make('New branch', 'prices', 'Make the branch');
  await page.getByRole('alert').waitFor();
  await go('/_utils/-/branches');
  await photographed(page, 'branches');
  await isSound(page, 'branches');
  await row('prices').getByRole('link', { name: 'Open' }).click();
  await page.locator('.side').getByText('on the branch prices').waitFor();
  await page.locator('.side').getByRole('link', { name: /orders@prices/ }).click();
  await page.waitForURL('**/_utils/orders%40prices');
  assert.match(await page.locator('table').innerText(), /pizza/);
  await set('/orders@prices/17', { price: 12 });
  await set('/orders@prices/18', { price: 6 });
  await ask('PUT', '/orders@prices/20', { item: HOSTILE });
  await set('/orders/17', { state: 'paid' });
  await set('/orders/18', { price: 7 });
  await go('/_utils/-/branches');
  await row('prices').getByRole('link', { name: 'Compare' }).click();
  const differences = await page.locator('main table').innerText();
  assert.match(differences, /17\s+changed\s+\/price\s+9\s+12/);
  assert.match(differences, /20\s+made/);
  await photographed(page, 'branch-diff');
  await isSound(page, 'branch-diff');
  await page.getByRole('link', { name: 'Merge it' }).click();
  await page.getByText('1 are in conflict').waitFor();
  assert.match(await page.locator('main table').innerText(), /orders \/ 18\s+\/price\s+5\s+7\s+6/);
  await photographed(page, 'merge');
  await isSound(page, 'merge');
  assert.equal((await ask('GET', '/orders/17')).price, 9, 'looking changes nothing');
  await page.getByRole('button', { name: 'Merge' }).click();
  await told('The branch was merged.');
  const merged = await ask('GET', '/orders/17');
  assert.deepEqual([merged.price, merged.state], [12, 'paid']);
  await go('/_utils/orders/doc/18/conflicts');
  assert.match(await page.locator('main table').innerText(), /price/);
  await go('/_utils/-/branches');
  await row('prices').getByRole('button', { name: 'Drop' }).click();
  await told('The branch was dropped.');
  assert.equal((await ask('GET', '/_branches')).branches.length, 0);
  await row('before').getByRole('link', { name: 'before' }).click();
  await page.locator('main').getByRole('link', { name: 'orders', exact: true }).click();
  await page.getByText('This is the past').waitFor();
  assert.match(await page.locator('table').innerText(), /pizza\s+9\s+open/);
  await go('/_utils/-/branches');
  await row('before').getByRole('button', { name: 'Remove' }).click();
  await told('The tag was taken away.');
  page.said = page.said.filter((text) => !text.includes('412'));
});

test('nobody but a server admin sees branches', async () => {
  await ask('POST', '/_branches', { name: 'secret-plan' });
  await ask('PUT', '/_users/org.couchdb.user:eve', { name: 'eve', password: 'eve', roles: [], type: 'user' });
  const eve = await browsing.loggedIn({}, 'eve', 'eve');
  for (const path of ['branches', 'branch-diff?from=main&to=secret-plan', 'merge?from=secret-plan&into=main']) {
    assert.ok([401, 403].includes((await eve.goto(`${http}/_utils/-/${path}`)).status()), path);
    assert.doesNotMatch(await eve.locator('main').innerText(), /secret-plan/);
  }
  await eve.goto(`${http}/_utils/?branch=secret-plan`);
  assert.doesNotMatch(await eve.locator('main').innerText(), /orders/);
  await eve.context().close();
});
