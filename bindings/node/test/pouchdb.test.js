// PouchDB on a store of ours, beside PouchDB on its own: what it answers, it answers alike.
'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const PouchDB = require('pouchdb')
PouchDB.plugin(require('pouchdb-find'))
PouchDB.plugin(require('../pouchdb.js'))
const { open } = require('../index.js')

let number = 0

/** A test with PouchDB's own database and ours. */
function on(title, body) {
  test(title, { timeout: 60_000 }, async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recension-pouch-'))
    const made = []
    const make = (name, options) => {
      const db = new PouchDB(path.join(folder, name), options)
      made.push(db)
      return db
    }
    const ours = (name = `ours-${++number}`) => make(name, { adapter: 'recension' })
    const theirs = () => make(`theirs-${++number}`, { adapter: 'leveldb' })
    try {
      await body({ ours, theirs, folder })
    } finally {
      await Promise.all(made.map((db) => db.close().catch(() => {})))
      fs.rmSync(folder, { recursive: true })
    }
  })
}

/** What both answer to the same calls, without the revisions that each makes in its own way. */
async function alike({ ours, theirs }, calls) {
  const answers = []
  for (const db of [ours(), theirs()]) answers.push(plain(await calls(db)))
  assert.deepEqual(answers[0], answers[1])
  return answers[0]
}
function plain(value) {
  return JSON.parse(JSON.stringify(value, (key, member) => {
    if (typeof member === 'string' && /^\d+-[0-9a-f]{32}$/.test(member)) return `${member.split('-')[0]}-*`
    if (['seq', 'update_seq', 'last_seq', 'backend_adapter', 'db_name'].includes(key)) return undefined
    if (key === 'ids') return member.length
    // Of a text it is that of the compressed bytes, as CouchDB has it.
    if (key === 'digest') return member.slice(0, 4)
    return member
  }))
}
const told = ({ status, name, message }) => ({ status, name, message })
const failing = (promise) => promise.then(() => assert.fail('it was not refused'), told)

on('documents: put, get, conflicts, removal, revisions', async (at) => {
  const answer = await alike(at, async (db) => {
    const first = await db.put({ _id: 'a', n: 1 })
    const second = await db.put({ _id: 'a', _rev: first.rev, n: 2 })
    return [
      first, second,
      await db.get('a'),
      await db.get('a', { rev: first.rev }),
      await db.get('a', { revs: true }),
      (await db.get('a', { revs_info: true }))._revs_info,
      await failing(db.put({ _id: 'a', n: 3 })),
      await failing(db.put({ _id: 'a', _rev: first.rev })),
      await failing(db.get('z')),
      await failing(db.get('a', { rev: '9-00000000000000000000000000000000' })),
      await failing(db.put({ _id: 'b', _other: 1 })).then(({ status }) => status),
      await db.remove('a', second.rev),
      await failing(db.get('a')),
      await db.get('a', { open_revs: 'all' }),
      await db.put({ _id: 'a', again: true }),
      (await db.info()).doc_count,
      (await db.post({ posted: 1 })).ok,
    ]
  })
  assert.equal(answer[2].n, 2)
})

on('bulkDocs and allDocs', (at) => alike(at, async (db) => {
  const docs = ['a', 'b', 'c', 'd', 'ü'].map((_id, n) => ({ _id, n }))
  const made = await db.bulkDocs(docs)
  await db.remove('c', made[2].rev)
  return [
    made,
    (await db.bulkDocs([{ _id: 'a' }, { _id: 'e' }])).map(({ ok, status, name, id }) => ({ ok, status, name, id })),
    await db.allDocs(),
    await db.allDocs({ include_docs: true, limit: 2, skip: 1 }),
    await db.allDocs({ descending: true, startkey: 'd', endkey: 'b' }),
    await db.allDocs({ startkey: 'b', endkey: 'd', inclusive_end: false }),
    await db.allDocs({ key: 'b' }),
    await db.allDocs({ keys: ['d', 'c', 'nobody', 'a'], include_docs: true }),
    await db.allDocs({ startkey: 'x', endkey: 'b' }),
    await db.bulkGet({ docs: [{ id: 'a' }, { id: 'nobody' }] }).then(({ results }) => results.map(({ id, docs }) =>
      [id, docs[0].ok?._id ?? docs[0].error.status])),
  ]
}))

on('conflicts of replicas, and trees of revisions', async (at) => {
  const rev = (generation, letter) => `${generation}-${letter.repeat(32)}`
  const answer = await alike(at, async (db) => {
    await db.bulkDocs([
      { _id: 'a', _rev: rev(1, 'a'), n: 1 },
      { _id: 'a', _rev: rev(2, 'b'), n: 2, _revisions: { start: 2, ids: ['b'.repeat(32), 'a'.repeat(32)] } },
      { _id: 'a', _rev: rev(2, 'c'), n: 3, _revisions: { start: 2, ids: ['c'.repeat(32), 'a'.repeat(32)] } },
    ], { new_edits: false })
    const found = await db.get('a', { conflicts: true })
    const diff = await db.revsDiff({ a: [rev(2, 'c'), rev(3, 'd')], z: [rev(1, 'a')] })
    const leaves = await db.get('a', { open_revs: 'all' })
    const latest = await db.get('a', { open_revs: [rev(1, 'a')], latest: true })
    await db.remove('a', found._rev)
    return [
      found, found._rev.at(2), diff, leaves.map(({ ok }) => ok.n).sort(), latest.length,
      (await db.get('a')).n,
      (await db.changes({ style: 'all_docs', include_docs: true, conflicts: true })).results,
    ]
  })
  assert.deepEqual([answer[0].n, answer[5]], [3, 2])
})

on('changes: pages within a commit, filters, backward, live', async (at) => {
  await alike(at, async (db) => {
    await db.bulkDocs(Array.from({ length: 10 }, (_, n) => ({ _id: `d${n}`, n })))
    const pages = []
    let since = 0
    for (;;) {
      const page = await db.changes({ since, limit: 3 })
      if (page.results.length === 0) break
      pages.push(page.results.map((change) => change.id))
      since = page.last_seq
    }
    return [
      pages,
      (await db.changes({ filter: (doc) => doc.n > 7, include_docs: true })).results,
      (await db.changes({ doc_ids: ['d3'] })).results,
      (await db.changes({ selector: { n: { $lt: 2 } } })).results,
      (await db.changes({ descending: true, limit: 2 })).results.map((change) => change.id),
      (await db.changes({ since: 'now' })).results,
    ]
  })
  const db = at.ours()
  await db.put({ _id: 'before' })
  const seen = []
  const live = db.changes({ since: 'now', live: true, include_docs: true })
  const two = new Promise((resolve) => live.on('change', (change) => seen.push(change) === 2 && resolve()))
  await db.info()
  await db.put({ _id: 'x', n: 1 })
  await db.put({ _id: 'y', n: 2 })
  await two
  live.cancel()
  assert.equal((await live).status, 'cancelled')
  assert.deepEqual(seen.map((change) => change.doc.n), [1, 2])
})

on('attachments', (at) => alike(at, async (db) => {
  const first = await db.put({
    _id: 'a', _attachments: { 'a.txt': { content_type: 'text/plain', data: Buffer.from('hello') } },
  })
  await db.putAttachment('a', 'b.txt', first.rev, Buffer.from('more').toString('base64'), 'text/plain')
  const stubs = await db.get('a')
  const kept = await db.put({ ...stubs, n: 1 })
  return [
    (await db.getAttachment('a', 'a.txt')).toString(),
    (await db.getAttachment('a', 'b.txt')).toString(),
    (await db.getAttachment('a', 'a.txt', { rev: first.rev })).toString(),
    stubs,
    (await db.get('a', { attachments: true }))._attachments,
    kept.ok,
    (await db.allDocs({ include_docs: true, attachments: true })).rows[0].doc._attachments['a.txt'].data,
    await failing(db.getAttachment('a', 'z')).then(({ status }) => status),
  ]
}))

on('local documents', (at) => alike(at, async (db) => {
  const made = await db.put({ _id: '_local/x', n: 1 })
  const found = await db.get('_local/x')
  const newer = await db.put({ ...found, n: 2 })
  return [
    made, found.n, newer, await failing(db.put({ _id: '_local/x' })).then(({ status }) => status),
    (await db.remove(await db.get('_local/x'))).ok, await failing(db.get('_local/x')).then(({ status }) => status),
    (await db.info()).doc_count,
  ]
}))

on('map/reduce and Mango', (at) => alike(at, async (db) => {
  await db.bulkDocs(Array.from({ length: 20 }, (_, n) => ({ _id: `d${n}`, n, kind: n % 2 ? 'odd' : 'even' })))
  await db.put({
    _id: '_design/kinds',
    views: { kinds: { map: 'function (doc) { emit(doc.kind, doc.n) }', reduce: '_sum' } },
  })
  const before = await db.query('kinds', { group: true })
  await db.put({ _id: 'new', n: 100, kind: 'odd' })
  await db.createIndex({ index: { fields: ['n'] } })
  return [
    before, await db.query('kinds', { group: true }),
    await db.query('kinds', { reduce: false, key: 'even', limit: 3, include_docs: true }),
    (await db.find({ selector: { n: { $gt: 17 } }, sort: ['n'] })).docs.map((doc) => doc.n),
  ]
}))

on('replication to and from PouchDB, live too', async ({ ours, theirs }) => {
  const [here, there] = [ours(), theirs()]
  await here.bulkDocs(Array.from({ length: 250 }, (_, n) => ({ _id: `d${n}`, n })))
  await here.put({ _id: 'with', _attachments: { a: { content_type: 'text/plain', data: Buffer.from('bytes') } } })
  await there.put({ _id: 'other', n: 1 })
  const synced = await here.sync(there, { batch_size: 40 })
  assert.deepEqual([synced.push.docs_written, synced.pull.docs_written], [251, 1])
  assert.equal((await there.getAttachment('with', 'a')).toString(), 'bytes')
  const again = await here.sync(there)
  assert.deepEqual([again.push.docs_written, again.pull.docs_written], [0, 0])
  const rows = async (db) => (await db.allDocs()).rows
  assert.deepEqual(await rows(here), await rows(there))
  const live = here.sync(there, { live: true })
  const arrived = new Promise((resolve) => there.changes({ since: 'now', live: true })
    .on('change', function (change) { if (change.id === 'late') { this.cancel(); resolve() } }))
  await there.info()
  await here.put({ _id: 'late' })
  await arrived
  live.cancel()
  await live
})

on('a purge', async ({ ours }) => {
  const db = ours()
  const { rev } = await db.put({ _id: 'a' })
  assert.equal((await db.compact()).ok, true)
  const purged = await db.purge('a', rev)
  assert.deepEqual(purged, { ok: true, deletedRevs: [rev], documentWasRemovedCompletely: true })
  assert.equal((await failing(db.get('a'))).status, 404)
})

on('it is kept, destroyed, and there beside other databases', async ({ ours, folder }) => {
  const first = ours('kept')
  const { rev } = await first.put({ _id: 'a', n: 1 })
  await first.close()
  const second = ours('kept')
  assert.equal((await second.get('a'))._rev, rev)
  assert.equal((await ours('kept').get('a')).n, 1, 'two of one folder')
  // The store is one like any other: a program reads it through the one that has it open.
  const db = await open(path.join(folder, 'kept'))
  assert.equal((await db.collection('documents').get('a')).n, 1)
  await db.close()
  const gone = ours('gone')
  await gone.put({ _id: 'a' })
  await gone.destroy()
  assert.equal(fs.existsSync(path.join(folder, 'gone')), false)
  // What somebody else has put there stays.
  const shared = ours('shared')
  await shared.put({ _id: 'a' })
  fs.mkdirSync(path.join(folder, 'shared', 'mine'))
  fs.writeFileSync(path.join(folder, 'shared', 'letter'), 'mine')
  await shared.destroy()
  assert.deepEqual(fs.readdirSync(path.join(folder, 'shared')).sort(), ['letter', 'mine'])
  const store = path.join(folder, 'one-store')
  const [a, b] = ['a', 'b'].map((name) => new PouchDB(name, { adapter: 'recension', store }))
  await Promise.all([a.put({ _id: 'x', n: 1 }), b.put({ _id: 'x', n: 2 })])
  assert.deepEqual([(await a.get('x')).n, (await b.get('x')).n], [1, 2])
  await a.destroy()
  assert.equal((await b.get('x')).n, 2)
  await b.close()
})
