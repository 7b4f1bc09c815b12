// Recension in a Node process: the classes that people see, over the compiled part. Texts of JSON go between the two.
'use strict'

const exact = require('./json.js')
const native = require(require('./platform.js').library(__dirname))

/** What the store refuses. `code` says which kind of refusal it is. */
class RecensionError extends Error {
  constructor(told) {
    super(told.message)
    this.name = 'RecensionError'
    Object.assign(this, told)
  }
}

function refusal(error) {
  let told
  try {
    told = JSON.parse(error.message)
  } catch {
    return error
  }
  return told && typeof told.code === 'string' ? new RecensionError(told) : error
}

async function asked(promise) {
  try {
    return await promise
  } catch (error) {
    throw refusal(error)
  }
}

/** A moment as the compiled part reads it: a commit's number, a text, or a Date. */
function moment(at) {
  if (at === undefined || at === null) return undefined
  if (typeof at === 'number' && Number.isSafeInteger(at) && at >= 0) return `seq:${at}`
  if (typeof at === 'string') return at
  if (at instanceof Date && !Number.isNaN(at.getTime())) return at.toISOString()
  throw new TypeError("at: give a commit's number, a text such as '2h', or a Date")
}

const STRINGS = (value) => Array.isArray(value) && value.every((one) => typeof one === 'string')
const WHOLE = (value) => (typeof value === 'bigint' || Number.isInteger(value)) && value >= 0

/** What options are: a test of their values, and what it asks for. Those of ANY are tested where they are read. */
const ANY = [() => true]
const FLAG = [(value) => typeof value === 'boolean', 'true or false']
const COUNT = [WHOLE, 'a whole number from 0 on']
const TEXT = [(value) => typeof value === 'string', 'a string']
const TEXTS = [STRINGS, 'a list of strings']
const SIGNAL = [(value) => typeof value.addEventListener === 'function', 'an AbortSignal']

/** The options that were given. Those that nobody knows are refused, and what would be read as another value. */
function chosen(given, kinds) {
  if (given === undefined) return {}
  if (given === null || typeof given !== 'object' || Array.isArray(given)) {
    throw new TypeError(`options are an object, such as { ${Object.keys(kinds)[0]}: ... }`)
  }
  const found = {}
  for (const [option, value] of Object.entries(given)) {
    if (!Object.hasOwn(kinds, option)) throw new TypeError(`there is no option ${option}`)
    if (value === undefined || value === null) continue
    const [fits, what] = kinds[option]
    if (!fits(value)) throw new TypeError(`${option} must be ${what}`)
    found[option] = value
  }
  return found
}

function position(since) {
  if (since === undefined || since === null) return '0'
  if (typeof since === 'string' || (typeof since === 'number' && Number.isSafeInteger(since) && since >= 0)) {
    return String(since)
  }
  throw new TypeError("since: give a commit's number, or the position of a feed")
}

/** An object of members, as JSON sees it: of a list, a Map or bytes another document would be written. */
function object(value, what) {
  const seen = typeof value?.toJSON === 'function' && !ArrayBuffer.isView(value) ? value.toJSON() : value
  const other = [Array, Map, Set, RegExp].some((kind) => seen instanceof kind) || ArrayBuffer.isView(seen)
  if (seen === null || typeof seen !== 'object' || other) throw new TypeError(`${what} must be an object`)
  return seen
}

function text(value, what) {
  return exact.stringify(object(value, what), what)
}

/** The text of a document that is written under an id. */
function under(id, document) {
  const seen = object(document, 'the document')
  if (seen._id !== undefined && seen._id !== name(id, 'id')) {
    const message = 'field _id must be the id that the document is written under'
    throw new RecensionError({ code: 'value', message, id })
  }
  return exact.stringify({ ...seen, _id: name(id, 'id') }, 'the document')
}

function texts(documents) {
  if (typeof documents !== 'object' || typeof documents?.[Symbol.iterator] !== 'function') {
    throw new TypeError('the documents must be a list, or another iterable')
  }
  return Array.from(documents, (document, number) => text(document, `document ${number}`))
}

function name(value, what) {
  if (typeof value !== 'string') throw new TypeError(`${what} must be a string`)
  if (!value.isWellFormed()) throw new TypeError(`${what} has half of a surrogate pair`)
  return value
}

function names(value, what) {
  if (!STRINGS(value)) throw new TypeError(`${what} must be a list of strings`)
  return value
}

/** The options of lists and of queries. */
const READ = { at: ANY, limit: COUNT }
const LIST = {
  ...READ, start: TEXT, end: TEXT, prefix: TEXT, descending: FLAG, ids: FLAG, deleted: FLAG, through: FLAG,
}
const COUNTED = { ...READ, skip: COUNT }
const FIND = { ...COUNTED, fields: TEXTS, sort: ANY }
const PAGE = { ...FIND, after: TEXT }

/** What the compiled part is asked: an order is pairs of a path and a direction there. */
function options(kinds, selector, given, more = {}) {
  const { at, sort, ...rest } = chosen(given, kinds)
  if (rest.prefix !== undefined && (rest.start ?? rest.end) !== undefined) {
    throw new TypeError('prefix: leave start and end out')
  }
  if (more.pipeline !== undefined) exact.check(more.pipeline, 'the pipeline', true)
  if (selector !== undefined && selector !== null) exact.check(selector, 'the selector', true)
  return exact.spelled({ ...more, ...rest, selector: selector ?? undefined, sort: order(sort), at: moment(at) })
}

function order(sort) {
  if (sort === undefined) return undefined
  return (Array.isArray(sort) ? sort : [sort]).map((part) => {
    if (typeof part === 'string') return [part, 'asc']
    const pair = Array.isArray(part) ? [part] : Object.entries(part ?? {})
    const [path, direction] = pair.length === 1 ? pair[0] : []
    if (typeof path !== 'string' || !['asc', 'desc'].includes(direction)) {
      throw new TypeError("sort: give paths, or a list of { path: 'asc' } and { path: 'desc' }")
    }
    return [path, direction]
  })
}

/** The items of a long answer: some are fetched at a time, and the snapshot is let go of at the end. */
async function * items(rows, parse) {
  try {
    for (;;) {
      const some = await asked(rows.some())
      if (some.length === 0) return
      for (const item of some) yield parse(item)
    }
  } finally {
    rows.close()
  }
}

/** A feed of changes: an async iterator. */
class Feed {
  #feed
  #follow
  #closed = false
  #ready = []

  constructor(feed, follow, signal) {
    this.#feed = feed
    this.#follow = follow
    signal?.addEventListener('abort', () => this.close(), { once: true })
    if (signal?.aborted) this.close()
  }

  /** The changes that there are; those to come are waited for if the feed follows. Empty at the end. */
  async some() {
    for (;;) {
      if (this.#closed) return []
      const some = (await asked(this.#feed.some())).map((change) => JSON.parse(change))
      if (this.#closed) return []
      if (some.length > 0 || !this.#follow) return some
      await this.#feed.ready()
    }
  }

  /** The changes that there are, without waiting. */
  async now() {
    return this.#closed ? [] : (await asked(this.#feed.some())).map((change) => JSON.parse(change))
  }

  close() {
    if (this.#closed) return
    this.#closed = true
    this.#feed.close()
  }

  async next() {
    if (this.#ready.length === 0) this.#ready = await this.some()
    if (this.#closed || this.#ready.length === 0) {
      this.close()
      return { done: true, value: undefined }
    }
    return { done: false, value: this.#ready.shift() }
  }

  async return() {
    this.close()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator]() {
    return this
  }
}

class Collection {
  #native
  #parse
  #exact
  #store

  constructor(inner, collection, parse, store) {
    this.#native = inner
    this.#parse = parse
    this.#exact = exact.exactness(parse)
    this.#store = store
    this.name = collection
  }

  async get(id, given) {
    const { at } = chosen(given, { at: ANY })
    const found = await asked(this.#native.get(name(id, 'id'), moment(at)))
    return found === null ? undefined : this.#parse(found)
  }

  async put(id, document) {
    return JSON.parse(await asked(this.#native.write(under(id, document), false, this.#exact))).rev
  }

  async create(document, id) {
    const write = id === undefined ? text(document, 'the document') : under(id, document)
    return JSON.parse(await asked(this.#native.write(write, true, this.#exact)))
  }

  async delete(id, rev) {
    const at = rev ?? (await this.get(id))?._rev
    if (at === undefined) throw new RecensionError({ code: 'missing', message: `there is no document ${id}`, id })
    return JSON.parse(await asked(this.#native.delete(name(id, 'id'), name(at, 'rev')))).rev
  }

  async putMany(documents, given) {
    const { create = false } = chosen(given, { create: FLAG })
    return (await asked(this.#native.writeMany(texts(documents), create, this.#exact))).map(result)
  }

  async merge(documents) {
    return (await asked(this.#native.merge(texts(documents)))).map(result)
  }

  documents(given) {
    return items(this.#native.list(options(LIST, undefined, given)), this.#parse)
  }

  [Symbol.asyncIterator]() {
    return this.documents()
  }

  find(selector, given) {
    return items(this.#native.find(options(FIND, selector, given)), this.#parse)
  }

  async page(selector, given) {
    return this.#parse(await asked(this.#native.page(options(PAGE, selector, given, { limit: 100 }))))
  }

  async count(selector, given) {
    return asked(this.#native.count(options(COUNTED, selector, given)))
  }

  /** The rows of a pipeline: a promise of all, which can be iterated over as well. */
  aggregate(pipeline, selector, given) {
    const made = async () => {
      const rows = await asked(this.#native.aggregate(options({ at: ANY }, selector, given, { pipeline })))
      return rows.map((row) => this.#parse(row))
    }
    const rows = made()
    return Object.assign(rows, {
      async * [Symbol.asyncIterator]() {
        yield * await rows
      },
    })
  }

  async explain(selector, given) {
    return JSON.parse(await asked(this.#native.explain(options(FIND, selector, given))))
  }

  history(id) {
    return items(this.#native.history(name(id, 'id')), this.#parse)
  }

  async revision(id, rev) {
    const found = await asked(this.#native.revision(name(id, 'id'), name(rev, 'rev')))
    return found === null ? undefined : this.#parse(found)
  }

  async leaves(id) {
    return JSON.parse(await asked(this.#native.leaves(name(id, 'id'))))
  }

  async conflicts(id) {
    return asked(this.#native.conflicts(name(id, 'id')))
  }

  async purge(id, revs) {
    return asked(this.#native.purge(name(id, 'id'), names(revs, 'revs')))
  }

  async attachment(id, attachment, rev) {
    const of = rev ?? undefined
    if (of !== undefined) name(of, 'rev')
    return (await asked(this.#native.attachment(name(id, 'id'), name(attachment, 'name'), of))) ?? undefined
  }

  async local(id) {
    const found = await asked(this.#native.local(name(id, 'name')))
    return found === null ? undefined : this.#parse(found)
  }

  async putLocal(id, document) {
    return asked(this.#native.putLocal(name(id, 'name'), text(document, 'the document'), this.#exact))
  }

  async deleteLocal(id) {
    return asked(this.#native.deleteLocal(name(id, 'name')))
  }

  async setting(setting) {
    return (await asked(this.#native.setting(name(setting, 'name')))) ?? undefined
  }

  async setSetting(setting, value) {
    return asked(this.#native.setSetting(name(setting, 'name'), name(value, 'value')))
  }

  async createIndex(index, paths, given) {
    const { unique = false } = chosen(given, { unique: FLAG })
    return asked(this.#native.createIndex(name(index, 'name'), names([paths].flat(), 'paths'), unique))
  }

  async dropIndex(index) {
    return asked(this.#native.dropIndex(name(index, 'name')))
  }

  async indexes() {
    return (await asked(this.#native.indexes())).map((index) => JSON.parse(index))
  }

  changes(given) {
    if (this.#store === undefined) throw new TypeError('changes are asked of the collection of the store itself')
    return feed(this.#store, this.name, given)
  }
}

function feed(store, collection, given) {
  const { since, follow = false, signal } = chosen(given, { since: ANY, follow: FLAG, signal: SIGNAL })
  return new Feed(store.changes(collection, position(since), follow), follow, signal)
}

function result(answer) {
  const told = JSON.parse(answer)
  return told.error === undefined ? told : { error: new RecensionError(told.error) }
}

class Transaction {
  #native
  #parse

  constructor(inner, parse) {
    this.#native = inner
    this.#parse = parse
  }

  collection(collection) {
    return new Collection(this.#native.collection(name(collection, 'name')), collection, this.#parse)
  }
}

/** A store that is open. */
class Database {
  #native
  #parse

  constructor(inner, parse) {
    this.#native = inner
    this.#parse = parse
  }

  collection(collection) {
    return new Collection(this.#native.collection(name(collection, 'name')), collection, this.#parse, this.#native)
  }

  /** The store as of a moment. */
  async at(at) {
    const seq = await asked(this.#native.resolve(moment(at) ?? 'now'))
    return {
      seq,
      collection: (collection) =>
        new Collection(this.#native.collection(name(collection, 'name'), seq), collection, this.#parse),
    }
  }

  async seq() {
    return asked(this.#native.resolve('now'))
  }

  async collections() {
    return asked(this.#native.collections())
  }

  async drop(collection) {
    return asked(this.#native.drop(name(collection, 'name')))
  }

  /** Makes a branch: a store that begins as this one, or as it was at a moment, and has its own writes. */
  async branch(branch, given) {
    const { at } = chosen(given, { at: ANY })
    return this.#opened(name(branch, 'name'), moment(at) ?? 'now')
  }

  /** Opens a branch; 'main' is the main line. */
  async openBranch(branch) {
    return this.#opened(name(branch, 'name'))
  }

  async #opened(branch, at) {
    const opened = new native.Store()
    await asked(opened.branchOf(this.#native, branch, at))
    return new Database(opened, this.#parse)
  }

  /** The name of the branch; undefined on the main line. */
  async branchName() {
    return (await asked(this.#native.branchName())) ?? undefined
  }

  async branches() {
    return JSON.parse(await asked(this.#native.branches()))
  }

  async renameBranch(branch, to) {
    return asked(this.#native.renameBranch(name(branch, 'name'), name(to, 'to')))
  }

  async dropBranch(branch) {
    return asked(this.#native.dropBranch(name(branch, 'name')))
  }

  /** Gives a moment a name: `at: 'tag:NAME'`. Answers the number of its commit. */
  async tag(tag, given) {
    const { at } = chosen(given, { at: ANY })
    return asked(this.#native.tag(name(tag, 'name'), moment(at)))
  }

  async tags() {
    return JSON.parse(await asked(this.#native.tags()))
  }

  async untag(tag) {
    return asked(this.#native.untag(name(tag, 'name')))
  }

  /** The documents that differ between this, which is before, and another branch. */
  diff(other, given) {
    const { at, otherAt } = chosen(given, { at: ANY, otherAt: ANY })
    return items(this.#native.diff(...this.#other(other), moment(at), moment(otherAt)), this.#parse)
  }

  /** Merges another branch into this one. */
  async merge(other, given) {
    const kinds = { dryRun: FLAG, conflicts: TEXT, counters: TEXTS, identities: TEXTS }
    const { conflicts = 'fields', dryRun = false, counters = [], identities } = chosen(given, kinds)
    const merged = this.#native.merge(...this.#other(other), conflicts, dryRun, counters, identities)
    return this.#parse(await asked(merged))
  }

  /** Another branch: its name, or the database that it is. */
  #other(other) {
    if (other instanceof Database) return [undefined, other.#native]
    return [name(other, 'the branch'), this.#native]
  }

  /** Runs `body(transaction)` and commits; again, on newer reads, if others were faster. */
  async transaction(body, given) {
    const { attempts = 100 } = chosen(given, { attempts: COUNT })
    if (typeof body !== 'function') throw new TypeError('a transaction is a function of the transaction')
    for (let attempt = 1; ; attempt++) {
      const transaction = this.#native.transaction()
      await asked(transaction.begin())
      let answer
      try {
        answer = await body(new Transaction(transaction, this.#parse))
      } catch (error) {
        await transaction.rollback()
        throw error
      }
      try {
        await asked(transaction.commit())
        return answer
      } catch (error) {
        if (error.code !== 'busy' || attempt >= attempts) throw error
      }
    }
  }

  changes(given) {
    return feed(this.#native, undefined, given)
  }

  async backup(folder) {
    return asked(this.#native.backup(name(folder, 'folder')))
  }

  async close() {
    return asked(this.#native.close())
  }

  async [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]() {
    return this.close()
  }
}

/**
 * Opens a store: a folder, which is made if there is none, or 'memory:'. 'notes.store#idea' is a branch of one. Integers
 * that a number cannot hold are read as BigInts; with `bigint: false` they are numbers. `exact: true` reads every other
 * number that JavaScript spells otherwise as an ExactNumber.
 */
async function open(address, given) {
  const kinds = { share: FLAG, readOnly: FLAG, bigint: FLAG, exact: FLAG }
  const { share = false, readOnly = false, bigint = true, exact: all = false } = chosen(given, kinds)
  if (all && !bigint) throw new TypeError('exact: true reads large integers as BigInts: leave bigint: false out')
  const store = new native.Store()
  await asked(store.open(name(address, 'address'), share, readOnly))
  return new Database(store, all ? exact.parseExact : bigint ? exact.parse : JSON.parse)
}

module.exports = { open, Database, Collection, Transaction, Feed, RecensionError, ExactNumber: exact.ExactNumber }
