/** A document: the members of JSON, and its id and revision when it is read. */
export type Document = { _id?: string, _rev?: string, [member: string]: any }
export type Read<T = Document> = T & { _id: string, _rev: string }
/** A commit's number, a text such as '2h' (ago), or a time. */
export type At = number | string | Date
export type Sort = string | Array<string | [string, 'asc' | 'desc'] | { [path: string]: 'asc' | 'desc' }>
export type Selector = { [member: string]: any }
export type Code =
  'conflict' | 'busy' | 'not_unique' | 'missing' | 'type' | 'value' | 'damaged' | 'in_use' | 'read_only' |
  'unavailable' | 'unknown' | 'closed' | 'other'

export class RecensionError extends Error {
  /** Which kind of refusal it is. */
  code: Code
  /** Of a conflict: the document, the revision that was expected, and the one that it has. */
  id?: string
  expected?: string
  found?: string
  /** Of a value that is not unique: the index, and the document that has it. */
  index?: string
  holder?: string
}

export interface Change {
  collection: string
  id: string
  rev: string
  seq: number
  deleted: boolean
  /** What `since` is for what comes after it. */
  position: string
}

export interface Revision {
  rev: string
  seq: number
  time: string
  deleted: boolean
  document: Read | null
}

export interface Difference { collection: string, id: string, before: Read | null, after: Read | null }
export interface MergeOptions {
  /** Where both changed the same differently: both revisions stay, one side wins, or nothing is written. */
  conflicts?: 'fields' | 'ours' | 'theirs' | 'abort'
  /** Tell what would happen, and write nothing. */
  dryRun?: boolean
  /** Places of numbers whose differences are added: '/stock'. */
  counters?: string[]
  /** Members that elements of arrays are told apart by. */
  identities?: string[]
}
export interface Merged {
  seq: number | null
  taken: number
  combined: number
  conflicted: number
  conflicts: Array<{
    collection: string, id: string, places: Array<{ place: string, base: any, ours: any, theirs: any }>,
  }>
  dropped: string[]
  made: string[]
}
export interface FindOptions { sort?: Sort, limit?: number, skip?: number, fields?: string[], at?: At }
export interface ListOptions {
  start?: string, end?: string, prefix?: string, limit?: number, descending?: boolean, at?: At
}
export interface ChangesOptions {
  since?: number | string
  /** Wait for what comes. */
  follow?: boolean
  /** Ends the feed when it is aborted. */
  signal?: AbortSignal
}
export type Written = { id: string, rev: string } | { error: RecensionError }

export class Feed implements AsyncIterableIterator<Change> {
  next(): Promise<IteratorResult<Change>>
  return(): Promise<IteratorResult<Change>>
  close(): void
  [Symbol.asyncIterator](): this
}

export class Collection implements AsyncIterable<Read> {
  readonly name: string
  get(id: string, options?: { at?: At }): Promise<Read | undefined>
  /** Writes a document; answers its revision. One with `_rev` replaces that revision, or is a conflict. */
  put(id: string, document: Document): Promise<string>
  create(document: Document, id?: string): Promise<{ id: string, rev: string }>
  delete(id: string, rev?: string): Promise<string>
  /** Many documents in one commit: for each its revision, or what refuses it. */
  putMany(documents: Iterable<Document>, options?: { create?: boolean }): Promise<Written[]>
  documents(options?: ListOptions): AsyncGenerator<Read>
  [Symbol.asyncIterator](): AsyncGenerator<Read>
  find(selector?: Selector, options?: FindOptions): AsyncGenerator<Read>
  page(
    selector?: Selector, options?: { sort?: Sort, limit?: number, after?: string, at?: At },
  ): Promise<{ documents: Read[], next: string | null }>
  count(selector?: Selector, options?: { at?: At }): Promise<number>
  /** The rows of a pipeline: a promise of all, which can be iterated over as well. */
  aggregate(
    pipeline: object[] | object, selector?: Selector, options?: { at?: At },
  ): Promise<any[]> & AsyncIterable<any>
  explain(selector?: Selector, options?: FindOptions): Promise<any>
  history(id: string): AsyncGenerator<Revision>
  revision(id: string, rev: string): Promise<Read | undefined>
  conflicts(id: string): Promise<string[]>
  attachment(id: string, name: string, rev?: string): Promise<Uint8Array | undefined>
  createIndex(name: string, paths: string | string[], options?: { unique?: boolean }): Promise<void>
  dropIndex(name: string): Promise<void>
  indexes(): Promise<Array<{ name: string, paths: string[], unique: boolean }>>
  changes(options?: ChangesOptions): Feed
}

export class Transaction {
  collection(name: string): Collection
}

export class Database {
  collection(name: string): Collection
  /** The store as of a moment. */
  at(at: At): Promise<{ seq: number, collection(name: string): Collection }>
  /** The number of the newest commit. */
  seq(): Promise<number>
  collections(): Promise<string[]>
  drop(name: string): Promise<boolean>
  /** Makes a branch: a store that begins as this one, or as it was at a moment, and has its own writes. */
  branch(name: string, options?: { at?: At }): Promise<Database>
  /** Opens a branch; 'main' is the main line. */
  openBranch(name: string): Promise<Database>
  /** The name of the branch; undefined on the main line. */
  branchName(): Promise<string | undefined>
  branches(): Promise<Array<{ name: string, from: string, seq: number }>>
  renameBranch(name: string, to: string): Promise<void>
  dropBranch(name: string): Promise<void>
  /** Gives a moment a name, `at: 'tag:NAME'`, and keeps it readable; answers the number of its commit. */
  tag(name: string, options?: { at?: At }): Promise<number>
  tags(): Promise<Array<{ name: string, branch: string, seq: number }>>
  untag(name: string): Promise<boolean>
  /** The documents that differ between this, which is before, and another branch. */
  diff(other: string | Database, options?: { at?: At, otherAt?: At }): AsyncGenerator<Difference>
  /** Merges another branch into this one, member by member. */
  merge(other: string | Database, options?: MergeOptions): Promise<Merged>
  /** Runs `body` and commits; again, on newer reads, if others were faster. */
  transaction<T>(body: (transaction: Transaction) => Promise<T>, options?: { attempts?: number }): Promise<T>
  changes(options?: ChangesOptions): Feed
  /** Writes a consistent copy into a folder; answers the number of its newest commit. */
  backup(folder: string): Promise<number>
  close(): Promise<void>
}

export interface OpenOptions {
  /** Other processes of the same user may open it meanwhile. */
  share?: boolean
  readOnly?: boolean
  /** Whether integers that a number cannot hold are read as BigInts; true by default. Both are written. */
  bigint?: boolean
  /** Whether every other number that JavaScript spells otherwise is read as an ExactNumber; false by default. */
  exact?: boolean
}

/** A number that keeps its text: `new ExactNumber('1.10')`. Reckoned with, it is a number. */
export class ExactNumber extends Number {
  constructor(text: string)
  readonly text: string
}
export function open(address: string, options?: OpenOptions): Promise<Database>
