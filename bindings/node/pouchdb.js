// PouchDB on a Recension store: `PouchDB.plugin(require('recension-db/pouchdb'))`, then
// `new PouchDB('notes', { adapter: 'recension' })`. A database is a folder of its own with one collection in it, or, with
// the option `store: folder`, the collection of its name in that store, which several databases share.
'use strict'

const fs = require('node:fs/promises')
const path = require('node:path')
const { randomUUID } = require('node:crypto')
const { open } = require('./index.js')

/** The collection of a database that has a folder of its own. */
const COLLECTION = 'documents'
const LOCAL = '_local/'

// ---- errors, as PouchDB has them

function fail(status, name, message, reason = message) {
  return Object.assign(new Error(message), { status, name, error: true, reason, message })
}
const missing = (reason) => fail(404, 'not_found', 'missing', reason)
const conflict = () => fail(409, 'conflict', 'Document update conflict')

function translated(error) {
  switch (error?.code) {
    case 'conflict': return conflict()
    case 'missing': return missing()
    case 'value': case 'type':
      return /starts? with|begins? with/.test(error.message) && /_/.test(error.message)
        ? fail(500, 'doc_validation', error.message)
        : fail(400, 'bad_request', error.message)
    case 'closed': return fail(412, 'precondition_failed', 'Database not open')
    default:
      if (error?.code && /attachment/.test(error.message)) return fail(412, 'missing_stub', error.message)
      return error
  }
}

/** A function with a callback, of one that makes a promise. */
function answering(work) {
  return (...given) => {
    const callback = given.pop()
    work(...given).then((answer) => process.nextTick(callback, null, answer),
      (error) => process.nextTick(callback, translated(error)))
  }
}

// ---- trees of revisions: [{pos, ids: [hash, {status}, [children]]}]

function treeOf(leaves) {
  const nodes = new Map()
  const roots = []
  for (const { path } of leaves) {
    let child
    for (const [rev, status] of path) {
      const known = nodes.get(rev)
      const node = known ?? [hashOf(rev), { status: status === 'missing' ? 'missing' : 'available' }, []]
      if (status === 'deleted') node[1].deleted = true
      if (child !== undefined && !node[2].includes(child)) node[2].push(child)
      nodes.set(rev, node)
      child = node
      if (known !== undefined) break
      if (rev === path.at(-1)[0]) roots.push({ pos: generationOf(rev), ids: node })
    }
  }
  const sort = (node) => {
    node[2].sort((a, b) => (a[0] < b[0] ? -1 : 1))
    node[2].forEach(sort)
  }
  roots.forEach((root) => sort(root.ids))
  return roots.sort((a, b) => a.pos - b.pos || (a.ids[0] < b.ids[0] ? -1 : 1))
}
const generationOf = (rev) => Number.parseInt(rev, 10)
const hashOf = (rev) => rev.slice(rev.indexOf('-') + 1)

// ---- attachments

async function base64(data) {
  if (typeof data === 'string') return data
  if (Buffer.isBuffer(data)) return data.toString('base64')
  if (typeof data?.arrayBuffer === 'function') return Buffer.from(await data.arrayBuffer()).toString('base64')
  throw fail(400, 'bad_request', 'an attachment is a Buffer, a Blob or a text in Base64')
}

async function toSend(doc) {
  if (!doc._attachments) return doc
  const attachments = {}
  for (const [name, attachment] of Object.entries(doc._attachments)) {
    attachments[name] = attachment.stub
      ? attachment
      : { content_type: attachment.content_type ?? 'application/octet-stream', ...without(attachment),
          data: await base64(attachment.data) }
  }
  return { ...doc, _attachments: attachments }
}
function without({ digest, length, stub, data, ...rest }) {
  return rest
}

// ---- stores, which databases of one folder share

const stores = new Map()

async function take(folder) {
  let store = stores.get(folder)
  if (store === undefined) {
    store = { users: 0, opened: open(folder, { share: true, bigint: false }) }
    stores.set(folder, store)
    store.opened.catch(() => stores.delete(folder))
  }
  store.users++
  return store.opened
}

async function give(folder) {
  const store = stores.get(folder)
  if (store === undefined || --store.users > 0) return
  stores.delete(folder)
  await (await store.opened).close()
}

function Adapter(opts, ready) {
  const api = this
  const folder = opts.store ?? opts.name
  const name = opts.store === undefined ? COLLECTION : opts.name
  const feeds = new Set()
  let database, notes, instance, closed
  /** Writes of local documents, one after the other. */
  let locals = Promise.resolve()

  async function begin() {
    database = await take(folder)
    notes = database.collection(name)
    instance = await notes.setting('pouchdb-id')
    if (instance === undefined) {
      instance = randomUUID()
      await notes.setSetting('pouchdb-id', instance)
    }
    return api
  }
  begin().then(() => ready(null, api), (error) => ready(translated(error)))

  api._remote = false
  api.type = () => 'recension'
  api._id = answering(async () => instance)
  api._info = answering(async () => ({
    doc_count: await notes.count(),
    update_seq: await database.seq(),
    backend_adapter: 'recension',
  }))

  async function metadataOf(id) {
    const leaves = await notes.leaves(id)
    if (leaves.length === 0) throw missing()
    return { id, leaves, rev_tree: treeOf(leaves), winningRev: leaves[0].path[0][0], deleted: leaves[0].deleted }
  }

  api._getRevisionTree = answering(async (id) => (await metadataOf(id)).rev_tree)

  api._get = answering(async (id, opts) => {
    const metadata = await metadataOf(id)
    let rev = opts.rev ?? metadata.winningRev
    if (opts.rev === undefined && metadata.deleted) throw missing('deleted')
    if (opts.rev !== undefined && opts.latest) {
      rev = metadata.leaves.find(({ path }) => path.some(([known]) => known === rev))?.path[0][0] ?? rev
    }
    const doc = await notes.revision(id, rev)
    if (doc === undefined) throw missing()
    return { doc, metadata, ctx: { rev } }
  })

  api._getAttachment = answering(async (id, attachment, info, opts) => {
    const bytes = await notes.attachment(id, attachment, opts.ctx?.rev ?? opts.rev)
    if (bytes === undefined) throw missing()
    return opts.binary ? Object.assign(bytes, { type: info.content_type }) : bytes.toString('base64')
  })

  async function fetchAttachments(doc, binary) {
    for (const [attachment, info] of Object.entries(doc?._attachments ?? {})) {
      const bytes = await notes.attachment(doc._id, attachment, doc._rev)
      info.data = binary ? Object.assign(bytes, { type: info.content_type }) : bytes.toString('base64')
      delete info.stub
      delete info.length
    }
  }

  api._bulkDocs = answering(async ({ docs }, opts) => {
    const answers = new Array(docs.length)
    const writes = []
    for (const [number, doc] of docs.entries()) {
      if (typeof doc._id === 'string' && doc._id.startsWith(LOCAL)) {
        const write = doc._deleted ? removeLocal(doc) : putLocal(doc)
        answers[number] = await write.catch(refused)
      } else {
        writes.push(number)
      }
    }
    const sent = await Promise.all(writes.map((number) => toSend(docs[number])))
    if (sent.length === 0) return answers
    const results = opts.new_edits === false
      ? await notes.merge(sent.map(withRevisions))
      : await notes.putMany(sent, { create: true })
    for (const [at, number] of writes.entries()) {
      const result = results[at]
      answers[number] = result.error ? refused(result.error) : { ok: true, id: sent[at]._id, ...result }
    }
    return answers
  })
  const refused = (error) => {
    const { status, name, message, reason } = translated(error)
    return { status: status ?? 500, name: name ?? 'unknown_error', message, reason, error: true }
  }
  /** A document without ancestors has its revision alone. */
  const withRevisions = (doc) => {
    if (doc._revisions !== undefined || typeof doc._rev !== 'string') return doc
    return { ...doc, _revisions: { start: generationOf(doc._rev), ids: [hashOf(doc._rev)] } }
  }

  api._allDocs = answering(async (opts) => {
    const found = { total_rows: await notes.count(), offset: opts.skip ?? 0, rows: [] }
    if (opts.update_seq) found.update_seq = await database.seq()
    if (opts.limit === 0) return found
    if (opts.keys !== undefined) {
      for (const key of opts.keys) found.rows.push(await ofKey(key, opts))
      return found
    }
    const [low, high] = opts.descending ? [opts.endkey, opts.startkey] : [opts.startkey, opts.endkey]
    const through = opts.descending || opts.inclusive_end !== false
    const asked = { descending: Boolean(opts.descending), start: low, end: high, through }
    if (opts.key !== undefined) Object.assign(asked, { start: opts.key, end: opts.key, through: true })
    for (const key of ['start', 'end']) {
      if (asked[key] === undefined || asked[key] === null) delete asked[key]
      else if (typeof asked[key] !== 'string') return found
    }
    if (asked.start > asked.end) return found
    let skip = opts.skip ?? 0
    for await (const one of notes.documents({ ...asked, ids: true, deleted: opts.deleted === 'ok' })) {
      if (opts.descending && opts.inclusive_end === false && one.id === opts.endkey) continue
      if (!one.deleted && skip-- > 0) continue
      const row = { id: one.id, key: one.id, value: { rev: one.rev } }
      if (one.deleted) Object.assign(row, { value: { rev: one.rev, deleted: true }, doc: null })
      else if (opts.include_docs) row.doc = await whole(one.id, one.rev, opts)
      found.rows.push(row)
      if (found.rows.length === opts.limit) break
    }
    return found
  })

  /** The row of a key that was asked for. */
  async function ofKey(key, opts) {
    const metadata = typeof key === 'string' && await metadataOf(key).catch(() => undefined)
    if (!metadata) return { key, error: 'not_found' }
    const row = { id: key, key, value: { rev: metadata.winningRev } }
    if (metadata.deleted) Object.assign(row, { value: { ...row.value, deleted: true }, doc: null })
    else if (opts.include_docs) row.doc = await whole(key, metadata.winningRev, opts)
    return row
  }

  async function whole(id, rev, { conflicts, attachments, binary }) {
    const doc = await notes.revision(id, rev)
    if (conflicts) {
      const losers = await notes.conflicts(id)
      if (losers.length > 0) doc._conflicts = losers
    }
    if (attachments) await fetchAttachments(doc, binary)
    return doc
  }

  api._changes = (given) => {
    const opts = { ...given }
    const feed = notes.changes({ since: opts.descending ? 0 : opts.since, follow: Boolean(opts.continuous) })
    feeds.add(feed)
    const ids = opts.doc_ids && new Set(opts.doc_ids)
    const limit = opts.limit > 0 ? opts.limit : Infinity
    const results = []
    let last = opts.since ?? 0

    /** The number of the commit; behind it in the middle of a commit, the position. */
    const seqOf = (change, next) => (next?.seq === change.seq ? change.position : change.seq)

    async function tell(change, next) {
      last = seqOf(change, next)
      if (ids && !ids.has(change.id)) return
      const metadata = await metadataOf(change.id).catch(() => undefined)
      const doc = metadata && await notes.revision(change.id, metadata.winningRev)
      if (!doc) return // it was purged meanwhile
      const told = opts.processChange(doc, metadata, opts)
      told.seq = last
      if (!passes(told, opts)) return
      if (!opts.include_docs) delete told.doc
      else if (opts.attachments) await fetchAttachments(told.doc, opts.binary)
      if (feed.closed) return
      opts.onChange(told)
      if (opts.return_docs) results.push(told)
      if (++tell.told >= limit) feed.closed = true
    }
    tell.told = 0

    async function run() {
      let known = []
      if (opts.descending) {
        for await (const change of feed) known.push(change)
        const newest = known.length > 0 ? known.at(-1).seq : last
        for (const change of known.reverse()) {
          if (feed.closed) break
          await tell(change)
        }
        return newest
      }
      for (;;) {
        // One is held back until it is known whether its commit has another.
        const some = known.length === 0 ? await feed.some() : await feed.now()
        known = known.concat(some)
        if (known.length === 0) return last
        const hold = some.length > 0 ? known.pop() : undefined
        for (const [at, change] of known.entries()) {
          if (feed.closed) return last
          await tell(change, known[at + 1] ?? hold)
        }
        if (feed.closed) return last
        known = hold === undefined ? [] : [hold]
      }
    }

    run().then((seq) => {
      end()
      if (!feed.cancelled) opts.complete(null, { results, last_seq: seq })
    }, (error) => {
      end()
      if (!feed.cancelled) opts.complete(translated(error))
    })
    const end = () => {
      feed.closed = true
      feeds.delete(feed)
      feed.close()
    }
    return {
      cancel() {
        feed.cancelled = true
        end()
      },
    }
  }

  // ---- local documents

  const inTurn = (work) => (locals = locals.then(work, work))
  const localName = (id) => id.slice(LOCAL.length)

  function putLocal(doc) {
    return inTurn(async () => {
      const { _revisions, ...write } = doc
      const there = await notes.local(localName(doc._id))
      if (there?._rev !== doc._rev) throw conflict()
      return { ok: true, id: doc._id, rev: await notes.putLocal(localName(doc._id), write) }
    })
  }

  function removeLocal(doc) {
    return inTurn(async () => {
      const there = await notes.local(localName(doc._id))
      if (there === undefined || there._rev !== doc._rev) throw missing()
      await notes.deleteLocal(localName(doc._id))
      return { ok: true, id: doc._id, rev: '0-0' }
    })
  }

  const withOptions = (work) => (doc, opts, callback) => {
    answering(work)(doc, callback ?? opts)
  }
  api._putLocal = withOptions(putLocal)
  api._removeLocal = withOptions(removeLocal)
  api._getLocal = answering(async (id) => {
    const found = await notes.local(localName(id))
    if (found === undefined) throw missing()
    return found
  })

  // ---- the rest

  // What old revisions are kept is the store's retention.
  api._doCompaction = (id, revs, opts, callback) => process.nextTick(callback ?? opts)

  api._purge = answering(async (id, path) => {
    const before = await notes.leaves(id)
    const leaf = path.reduce((newest, rev) => (generationOf(rev) > generationOf(newest) ? rev : newest))
    await notes.purge(id, [leaf])
    return { ok: true, deletedRevs: path, documentWasRemovedCompletely: before.length === 1 }
  })

  async function close() {
    if (closed) return
    closed = true
    for (const feed of feeds) feed.close()
    await give(folder)
  }
  api._close = answering(close)

  api._destroy = answering(async () => {
    await database.drop(name)
    const empty = (await database.collections()).length === 0
    await close()
    // A folder that this adapter made for one database, and that nobody else uses.
    if (opts.store === undefined && empty && !stores.has(folder)) await removeStore(folder)
    return { ok: true }
  })
}

/** Removes a store's own files, and the folder if nothing else is in it. */
async function removeStore(folder) {
  for (const own of ['log', 'index', 'settled', 'STORE', 'MARK', 'SOCKET', 'lock']) {
    await fs.rm(path.join(folder, own), { recursive: true, force: true })
  }
  await fs.rmdir(folder).catch((error) => {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(error.code)) throw error
  })
}

/** Whether a function that filters lets a change pass. */
function passes(change, opts) {
  if (typeof opts.filter !== 'function') return true
  try {
    return Boolean(opts.filter(change.doc, { query: opts.query_params }))
  } catch (error) {
    throw fail(400, 'bad_request', `Filter function threw: ${error}`)
  }
}

Adapter.valid = () => true
Adapter.use_prefix = false

module.exports = (PouchDB) => PouchDB.adapter('recension', Adapter, false)
