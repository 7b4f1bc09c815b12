// What `make run` ends with, in real Chromium: scripts/run loads cities and serves them, and the page that it names
// shows them with a facet by country and with one earlier moment to look at. DEMO_CITIES gives it the whole data set.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { Browsing, isSound, photographed } from './browsing.js';

const SHANGHAI = '1796236';
const countries = { CN: 400, PT: 300, ES: 200, IS: 100 };
let dir, script, said, browsing;

// Cities as the data set has them. Those that the script names are among them.
function cities() {
  const named = {
    [SHANGHAI]: ['Shanghai', 'CN', 24874500], 2735943: ['Porto', 'PT', 249633], 1273294: ['Delhi', 'IN', 11034555],
  };
  const all = Object.entries(named);
  let id = 3000000;
  for (const [code, count] of Object.entries(countries)) {
    for (let n = 0; n < count; n++) all.push([String(id++), [`${code} town ${n}`, code, 1000 + 37 * n]]);
  }
  return Object.fromEntries(all.map(([id, [name, countrycode, population]]) => [id, {
    geonameid: Number(id), name, latitude: 1.5, longitude: 2.5, countrycode, population, timezone: 'Etc/UTC', admin1code: '01',
    alternatenames: [name],
  }]));
}

const freePort = () => new Promise((resolve) => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});

before(async () => {
  dir = mkdtempSync(join(tmpdir(), 'recension-walkthrough-'));
  const own = join(dir, 'cities.json');
  writeFileSync(own, JSON.stringify(cities()));
  const env = {
    ...process.env, DEMO_CITIES: process.env.DEMO_CITIES ?? own, DEMO_BIN: dirname(resolve(process.env.RECENSION_BINARY)),
    DEMO_DIR: dir, PORT: String(await freePort()),
  };
  delete env.SERVE;
  delete env.RECENSION_STORE;
  script = spawn(resolve(import.meta.dirname, '../../scripts/run'), { env, stdio: ['ignore', 'pipe', 'pipe'] });
  said = '';
  await new Promise((served, failed) => {
    const told = (text) => {
      said += text;
      if (/listening on http/.test(said)) served();
    };
    script.stdout.on('data', told);
    script.stderr.on('data', told);
    script.once('exit', (code) => failed(new Error(`scripts/run ended with ${code}: ${said}`)));
  });
  browsing = await new Browsing().start();
});

after(async () => {
  await browsing?.end();
  if (script && script.exitCode === null) {
    const gone = new Promise((resolve) => script.once('exit', resolve));
    // It has become the server.
    script.kill('SIGKILL');
    await gone;
  }
  rmSync(dir, { recursive: true, force: true });
});

// The addresses that the script has printed for a browser.
const addresses = () => said.match(/http:\/\/127\.0\.0\.1:\d+\/_utils\/\S+/g) ?? [];
const ids = (page) => page.locator('tbody th').allInnerTexts();

test('the page that it ends with shows the cities by country, and an earlier moment with other rows', async () => {
  const [ofCity, ofCities] = addresses();
  const page = await browsing.opened();
  await page.goto(ofCities);
  await page.getByLabel('Name', { exact: true }).fill('admin');
  await page.getByLabel('Password').fill('porto');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.waitForURL((url) => url.href.startsWith(ofCities));
  const facet = page.getByRole('region', { name: 'Facet' }).getByRole('listitem');
  if (!process.env.DEMO_CITIES) {
    const shown = (await facet.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
    assert.deepEqual(shown, ['CN 400', 'PT 301', 'ES 200', 'IS 100', 'IN 1']);
  }
  assert.match(await facet.first().innerText(), /^[A-Z]{2}\s+[\d\u202f]+$/);
  const now = await ids(page);
  assert.equal(now.length, 50);
  assert.ok(!now.includes(SHANGHAI));
  await photographed(page, 'make-run');
  await isSound(page, 'the page of make run');
  await page.getByRole('link', { name: 'Before the last change' }).click();
  await page.getByText('This is the past').waitFor();
  const then = await ids(page);
  assert.equal(then[0], SHANGHAI);
  assert.deepEqual(then.slice(1), now.slice(0, 49));
  if (!process.env.DEMO_CITIES) assert.match(await facet.first().innerText(), /401/);
  await photographed(page, 'make-run-then');
  await isSound(page, 'the page of make run, as it was');
  // A country of the facet is a filter, which stays at its moment.
  await facet.getByRole('link').first().click();
  await page.waitForURL('**q=countrycode*');
  await page.getByText('This is the past').waitFor();

  await page.goto(ofCity);
  await page.getByText('Deleted at commit').waitFor();
  await photographed(page, 'make-run-deleted');
  await page.getByRole('button', { name: 'Restore what it said before' }).click();
  await page.locator('dl.members').getByText('Shanghai').first().waitFor();
  await page.goto(ofCities);
  assert.equal((await ids(page))[0], SHANGHAI);
  assert.deepEqual(page.said, []);
  await page.context().close();
});
