// The module as people use it.
'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const { open, ExactNumber, RecensionError } = require('../index.js')

/** A test with a store in a folder of its own. */
function on(title, body) {
  test(title, { timeout: 60_000 }, async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recension-node-'))
    const db = await open(path.join(folder, 'store'))
    try {
      await body(db, folder)
    } finally {
      await db.close()
      fs.rmSync(folder, { recursive: true })
    }
  })
}

async function all(items) {
  const found = []
  for await (const item of items) found.push(item)
  return found
}

const refused = (code) => (error) => error instanceof RecensionError && error.code === code

on('documents are written and read', async (db) => {
  const notes = db.collection('notes')
  const rev = await notes.put('a', { text: 'hello', deep: { list: [1, 2.5, null, true, 'ü\u2028'] } })
  assert.match(rev, /^1-[0-9a-f]{32}$/)
  assert.deepEqual(await notes.get('a'), {
    _id: 'a', _rev: rev, text: 'hello', deep: { list: [1, 2.5, null, true, 'ü\u2028'] },
  })
  assert.equal(await notes.get('z'), undefined)
  const made = await notes.create({ n: 1 })
  assert.equal((await notes.get(made.id)).n, 1)
  assert.equal(await notes.count(), 2)
  await notes.delete(made.id)
  assert.equal(await notes.get(made.id), undefined)
  await assert.rejects(notes.delete('z'), refused('missing'))
  assert.deepEqual(await db.collections(), ['notes'])
  assert.equal(await db.drop('notes'), true)
})

on('a revision that is not there any more is a conflict', async (db) => {
  const notes = db.collection('notes')
  const rev = await notes.put('a', { n: 1 })
  const [mine, theirs] = [await notes.get('a'), await notes.get('a')]
  const newer = await notes.put('a', { ...theirs, n: 2 })
  await assert.rejects(notes.put('a', { ...mine, n: 3 }), (error) => {
    assert.deepEqual([error.code, error.id, error.expected, error.found], ['conflict', 'a', rev, newer])
    return true
  })
  await assert.rejects(notes.create({}, 'a'), refused('conflict'))
  const [good, bad] = await notes.putMany([{ _id: 'b' }, { _id: 'a', _rev: rev }])
  assert.equal(good.id, 'b')
  assert.equal(bad.error.code, 'conflict')
  assert.deepEqual((await all(notes.history('a'))).map((one) => one.document.n), [2, 1])
})

on('what cannot be is refused', async (db) => {
  const notes = db.collection('notes')
  for (const document of ['text', null, [1], 7]) await assert.rejects(notes.create(document), TypeError)
  await assert.rejects(notes.get(7), TypeError)
  await assert.rejects(notes.put('', {}), refused('value'))
  await assert.rejects(notes.put('a', { _other: 1 }), refused('value'))
  await assert.rejects(all(notes.find({ n: { $nothing: 1 } })), RecensionError)
  await assert.rejects(notes.get('a', { at: 'someday' }), refused('value'))
  await assert.rejects(notes.get('a', { at: {} }), TypeError)
  let deep = 1
  for (let level = 0; level < 600; level++) deep = [deep]
  await assert.rejects(notes.put('a', { deep }), refused('value'))
})

on('queries, pages, aggregates and indexes', async (db) => {
  const cities = db.collection('cities')
  const many = Array.from({ length: 300 }, (_, n) => ({ _id: `c${n}`, n, even: n % 2 === 0 }))
  assert.equal((await cities.putMany(many)).filter((one) => one.rev).length, 300)
  await cities.createIndex('by-n', 'n', { unique: true })
  assert.deepEqual(await cities.indexes(), [{ name: 'by-n', paths: ['n'], unique: true }])
  const found = await all(cities.find({ n: { $gte: 297 } }, { sort: [['n', 'desc']] }))
  assert.deepEqual(found.map((city) => city.n), [299, 298, 297])
  assert.deepEqual(await all(cities.find({ n: 5 }, { fields: ['_id'] })), [{ _id: 'c5' }])
  assert.match(JSON.stringify(await cities.explain({ n: 5 })), /by-n/)
  assert.equal(await cities.count({ even: true }), 150)
  const first = await cities.page({ even: true }, { limit: 100 })
  const last = await cities.page({ even: true }, { limit: 100, after: first.next })
  assert.deepEqual([first.documents.length, last.documents.length, last.next], [100, 50, null])
  assert.equal((await all(cities)).length, 300)
  assert.deepEqual((await all(cities.documents({ prefix: 'c29', limit: 2 }))).map((one) => one._id), ['c29', 'c290'])
  const rows = await cities.aggregate([{ $group: { _id: '$even', n: { $sum: '$n' } } }, { $sort: { _id: 1 } }])
  assert.deepEqual(rows.map((row) => row.n), [22500, 22350])
  const seen = []
  for await (const row of cities.aggregate([{ $group: { _id: '$even', n: { $sum: 1 } } }, { $sort: { _id: 1 } }])) {
    seen.push(row.n)
  }
  assert.deepEqual(seen, [150, 150])
  await assert.rejects(all(cities.aggregate([{ $nothing: {} }])), RecensionError)
  await assert.rejects(cities.put('new', { n: 5 }), (error) => error.code === 'not_unique' && error.holder === 'c5')
  for await (const city of cities.find({})) { // left in the middle: the snapshot is let go of
    assert.ok(city)
    break
  }
  await cities.dropIndex('by-n')
})

on('integers of any size go there and back', async (db, folder) => {
  const c = db.collection('c')
  const values = {
    big: 12345678901234567890n, negative: -(10n ** 40n), list: [2n ** 53n, 1], safe: Number.MAX_SAFE_INTEGER,
    text: '"12345678901234567890" \\', double: 1.2345678901234567e300,
  }
  await c.put('a', values)
  const { _id, _rev, ...found } = await c.get('a')
  assert.deepEqual(found, values)
  await c.put('a', { _rev, ...found, seen: true })
  assert.equal((await all(c.find({ big: { $gt: 12345678901234567889n } }))).length, 1)
  assert.equal((await all(c.find({ big: { $gt: 12345678901234567890n } }))).length, 0)
  assert.equal((await all(c.history('a')))[0].document.big, values.big)
  await db.transaction(async (tx) => assert.equal((await tx.collection('c').get('a')).negative, values.negative))
  const numbers = await open(path.join(folder, 'store'), { bigint: false })
  assert.equal((await numbers.collection('c').get('a')).big, 12345678901234567000)
  await numbers.close()
})

/** Numbers that a double does not hold, or spells otherwise. */
const NUMBERS = '{"long":0.1000000000000000055511151231257827,"price":1.10,"whole":2.0,"tiny":1e-310,"large":1E30,' +
  '"zero":-0,"integer":123456789012345678901234567890,"decimal":12345678901234567890.123,"in":[{"n":1.0},[1.50,7]]}'

on('numbers that nobody changes are written back as they were', async (db, folder) => {
  const place = path.join(folder, 'store')
  const exact = await open(place, { exact: true })
  const { stringify, parseExact } = require('../json.js')
  const texts = exact.collection('c')
  const stored = async (id) => {
    const { _id, _rev, seen, ...members } = await texts.get(id)
    return stringify(members)
  }
  await texts.putMany(['a', 'b', 'd', 'e', 'f'].map((_id) => ({ _id, ...parseExact(NUMBERS) })))
  assert.equal(await stored('a'), NUMBERS)

  const c = db.collection('c')
  await c.put('a', { ...(await c.get('a')), seen: true })
  await c.put('b', structuredClone({ ...(await c.get('b')), seen: true }))
  await db.transaction(async (tx) => {
    await tx.collection('c').put('d', { ...(await tx.collection('c').get('d')), seen: true })
    await tx.collection('c').put('d', { ...(await tx.collection('c').get('d')), seen: false })
  })
  await c.putMany((await all(c.find({ _id: 'e' }))).map((document) => ({ ...document, seen: true })))
  const numbers = await open(place, { bigint: false })
  await numbers.collection('c').put('f', { ...(await numbers.collection('c').get('f')), seen: true })
  await numbers.close()
  for (const id of ['a', 'b', 'd', 'e', 'f']) assert.equal(await stored(id), NUMBERS, id)

  // What is changed is changed.
  await c.put('a', { ...(await c.get('a')), price: 1.25, integer: 123456789012345678901234567891n })
  assert.equal((await texts.get('a')).price, 1.25)
  assert.equal((await texts.get('a')).integer, 123456789012345678901234567891n)
  await c.putLocal('l', parseExact(NUMBERS))
  await c.putLocal('l', { ...(await c.local('l')), seen: true })
  assert.equal(String((await texts.local('l')).long), '0.1000000000000000055511151231257827')

  // Exact numbers reckon as numbers, and go anywhere.
  const { price, whole } = await texts.get('b')
  assert.ok(price instanceof ExactNumber && price.text === '1.10' && price * 2 === 2.2 && whole > 1)
  await c.put('elsewhere', { price, big: 2n ** 60n })
  assert.equal(stringify((await texts.get('elsewhere')).price), '1.10')
  await texts.put('b', { ...(await texts.get('b')), price: 1.1 })
  assert.equal((await texts.get('b')).price, 1.1)
  for (const wrong of ['1.', 'x', '"', 1]) assert.throws(() => new ExactNumber(wrong), TypeError)
  await assert.rejects(open(place, { exact: true, bigint: false }), TypeError)
  await exact.close()
})

on('the past', async (db) => {
  const notes = db.collection('notes')
  await notes.put('a', { n: 1 })
  const then = await db.seq()
  await notes.put('a', { n: 2 })
  assert.equal((await notes.get('a', { at: then })).n, 1)
  const past = (await db.at(then)).collection('notes')
  assert.equal((await past.get('a')).n, 1)
  await assert.rejects(past.put('a', {}), refused('read_only'))
})

on('transactions are one commit or none, and run again if others were faster', async (db) => {
  await db.collection('c').put('n', { n: 0 })
  await assert.rejects(db.transaction(async (tx) => {
    await tx.collection('c').put('n', { n: 9 })
    throw new Error('given up')
  }), /given up/)
  assert.equal((await db.collection('c').get('n')).n, 0)
  const count = () => db.transaction(async (tx) => {
    const document = await tx.collection('c').get('n')
    await tx.collection('c').put('n', { ...document, n: document.n + 1 })
  }, { attempts: 1000 })
  await Promise.all(Array.from({ length: 8 }, async () => {
    for (let turn = 0; turn < 10; turn++) await count()
  }))
  assert.equal((await db.collection('c').get('n')).n, 80)
})

on('changes, known and to come', async (db) => {
  const notes = db.collection('notes')
  await notes.put('a', {})
  await notes.put('b', {})
  const known = await all(db.changes())
  assert.deepEqual(known.map((change) => change.id), ['a', 'b'])
  assert.deepEqual((await all(notes.changes({ since: known[0].position }))).map((change) => change.id), ['b'])
  const coming = notes.changes({ since: known[1].position, follow: true })
  const next = coming.next() // waits without a thread
  await notes.put('c', {})
  assert.equal((await next).value.id, 'c')
  const ended = coming.next()
  coming.close()
  assert.equal((await ended).done, true)
  const controller = new AbortController()
  const aborted = all(db.changes({ since: await db.seq(), follow: true, signal: controller.signal }))
  controller.abort()
  assert.deepEqual(await aborted, [])
})

on('several of one store, copies, closing', async (db, folder) => {
  await db.collection('a').put('b', {})
  await assert.rejects(open(path.join(folder, 'store'), { readOnly: true }), refused('in_use'))
  await assert.rejects(open(path.join(folder, 'store'), { share: true }), refused('value'))
  await assert.rejects(open(path.join(folder, 'store'), { shared: true }), TypeError)
  const same = await open(path.join(folder, '.', 'store'))
  assert.ok(await same.collection('a').get('b'))
  await same.close()
  assert.equal(await db.backup(path.join(folder, 'copy')), await db.seq())
  const copy = await open(path.join(folder, 'copy'), { readOnly: true })
  assert.ok(await copy.collection('a').get('b'))
  await assert.rejects(copy.collection('a').put('c', {}), refused('read_only'))
  await copy.close()
  await assert.rejects(copy.collection('a').get('b'), refused('closed'))
  const owner = await open(path.join(folder, 'shared'), { share: true })
  const guest = await open(path.join(folder, 'shared'))
  await guest.collection('a').put('c', { n: 1 })
  assert.equal((await owner.collection('a').get('c')).n, 1)
  await guest.close()
  await owner.close()
})

test('an option that nobody knows is refused by its name', { timeout: 60_000 }, async () => {
  const db = await open('memory:')
  const notes = db.collection('notes')
  await notes.put('a', { n: 1 })
  const calls = [
    () => notes.get('a', { att: 'tag:then' }),
    () => notes.putMany([], { att: true }),
    () => notes.createIndex('i', 'n', { att: true }),
    () => notes.count(undefined, { att: 1 }),
    async () => notes.documents({ att: 1 }),
    async () => notes.find({ n: 1 }, { att: 1 }),
    () => notes.page({ n: 1 }, { att: 1 }),
    () => notes.aggregate([], {}, { att: 1 }),
    async () => notes.changes({ att: 1 }),
    async () => db.changes({ att: 1 }),
    () => db.branch('b', { att: 1 }),
    () => db.tag('t', { att: 1 }),
    () => db.transaction(() => {}, { att: 1 }),
    async () => db.diff('main', { att: 1 }),
    () => db.merge('main', { att: 1 }),
    () => open('memory:', { att: 1 }),
  ]
  for (const call of calls) await assert.rejects(call, { name: 'TypeError', message: 'there is no option att' }, `${call}`)
  assert.deepEqual([await db.branches(), await db.tags(), await notes.indexes()], [[], [], []])
  await db.close()
})

on('what is no document, no selector and no option is refused, and nothing else is done instead', async (db) => {
  const notes = db.collection('notes')
  await notes.put('a', { n: 1, owner: 'ann' })
  for (const none of [[1, 2], 'text', null, undefined, 7, () => 1, new Date(0), new Map([['n', 1]]), Buffer.from('x')]) {
    await assert.rejects(notes.put('b', none), TypeError, String(none))
    await assert.rejects(notes.create(none, 'b'), TypeError, String(none))
    await assert.rejects(notes.putMany([none]), TypeError, String(none))
  }
  await assert.rejects(notes.put('b', { _id: 'a' }), refused('value'))
  await assert.rejects(notes.create({ _id: 'a' }, 'b'), refused('value'))
  for (const none of [{}, 'text', null]) await assert.rejects(notes.putMany(none), TypeError)
  assert.equal(await notes.count(), 1)
  const selectors = [{ owner: undefined }, { n: Number.NaN }, { n: { $in: [undefined] } }, { owner: /^a/ }, { n: () => 1 }]
  for (const selector of selectors) {
    await assert.rejects(async () => all(notes.find(selector)), TypeError)
    await assert.rejects(notes.count(selector), TypeError)
  }
  for (const given of [{ limit: Number.NaN }, { prefix: 'a' }, { ids: true }, { sort: { n: 'asc', owner: 'desc' } }]) {
    await assert.rejects(async () => all(notes.find({}, given)), TypeError, JSON.stringify(given))
  }
  for (const given of [{ sort: 'n' }, { fields: ['n'] }, { prefix: 'a', start: 'b' }]) {
    await assert.rejects(async () => all(notes.documents(given)), TypeError, JSON.stringify(given))
  }
  assert.equal((await all(notes.find({ owner: 'ann' }, { limit: undefined, sort: [{ n: 'desc' }, 'owner'] }))).length, 1)
})

on('what JSON would write as null or {} is refused by its place', async (db) => {
  const notes = db.collection('notes')
  const wrong = [
    [{ a: [1, Number.NaN] }, 'the document.a[1] is NaN'],
    [{ a: { b: -Infinity } }, 'the document.a.b is -Infinity'],
    [{ at: new Date('x') }, 'the document.at is a Date of no time'],
    [{ a: new Map([['b', 1]]) }, 'the document.a is a value of the type Map'],
    [{ a: [new Set([1])] }, 'the document.a[0] is a value of the type Set'],
    [{ a: Promise.resolve(1) }, 'the document.a is a value of the type Promise'],
    [{ a: new Uint8Array([1]) }, 'the document.a is a value of the type Uint8Array'],
    [{ a: [undefined] }, 'the document.a[0] is undefined'],
    [{ a: { toJSON: () => ({ b: Number.NaN }) } }, 'the document.a.b is NaN'],
    [{ a: 7n, b: Number.NaN }, 'the document.b is NaN'],
  ]
  for (const [document, message] of wrong) {
    const refusal = (error) => error instanceof TypeError && error.message.startsWith(message)
    await assert.rejects(notes.put('a', document), refusal, message)
    await assert.rejects(notes.create(document), refusal, message)
    await assert.rejects(notes.putLocal('a', document), refusal, message)
    const many = message.replace('the document', 'document 1')
    await assert.rejects(notes.putMany([{}, document]), (error) => error.message.startsWith(many), many)
  }
  await notes.put('a', { a: null, b: {}, c: [{}, null], d: new Date(0), e: undefined, f: Buffer.from('x'), g: '0' })
  const { _id, _rev, ...found } = await notes.get('a')
  const bytes = { type: 'Buffer', data: [120] }
  assert.deepEqual(found, { a: null, b: {}, c: [{}, null], d: '1970-01-01T00:00:00.000Z', f: bytes, g: '0' })
})

on('positions and moments that are ahead are refused', async (db) => {
  const notes = db.collection('notes')
  await notes.put('a', {})
  for (const follow of [false, true]) {
    for (const feed of [db.changes({ since: 9, follow }), notes.changes({ since: '9', follow })]) {
      await assert.rejects(all(feed), { code: 'value', message: /ahead of the newest commit, 1/ })
    }
  }
  const soon = new Date(Date.now() + 3_600_000)
  for (const asked of [() => notes.get('a', { at: soon }), () => db.at(soon), () => db.tag('x', { at: soon })]) {
    await assert.rejects(asked(), { code: 'value', message: /still to come.*newest commit is 1/ })
  }
  await assert.rejects(notes.get('a', { at: 9 }), refused('value'))
  await assert.rejects(db.at(9), refused('value'))
  await assert.rejects(notes.get('a', { at: new Date('x') }), TypeError)
})

on('options that are none, or of another type, are refused by their names, and nothing is done instead', async (db) => {
  const notes = db.collection('notes')
  await notes.put('a', { n: 1 })
  const branch = await db.branch('idea')
  await branch.collection('notes').put('a', { n: 2 })
  for (const given of [true, 5, 'dryRun', [], null]) {
    const asked = [
      () => notes.get('a', given), () => all(notes.find({}, given)), () => all(notes.documents(given)),
      () => notes.count({}, given), () => notes.putMany([{}], given), () => notes.createIndex('n', 'n', given),
      () => all(notes.changes(given)), () => db.branch('other', given), () => db.tag('v1', given),
      () => all(db.diff('idea', given)), () => db.merge('idea', given), () => db.transaction(async () => 1, given),
      () => open('memory:', given), () => notes.aggregate([], {}, given), () => notes.explain({}, given), () => notes.page({}, given),
    ]
    for (const does of asked) await assert.rejects(async () => does(), /options are an object/, String(does))
  }
  const wrong = [
    [() => notes.putMany([{}], { create: 'no' }), /create must be true or false/],
    [() => notes.createIndex('n', 'n', { unique: 1 }), /unique must be true or false/],
    [() => notes.createIndex('n', ['n', 7]), /paths must be a list of strings/],
    [() => notes.purge('a', 'b'), /revs must be a list of strings/],
    [() => notes.attachment('a', 'b', 7), /rev must be a string/],
    [() => db.merge('idea', { dryRun: 'yes' }), /dryRun must be true or false/],
    [() => db.merge('idea', { counters: '/n' }), /counters must be a list of strings/],
    [() => db.merge('idea', { conflicts: true }), /conflicts must be a string/],
    [() => db.changes({ follow: 1 }), /follow must be true or false/],
    [() => db.changes({ signal: 1 }), /signal must be an AbortSignal/],
    [() => db.transaction(async () => 1, { attempts: '3' }), /attempts must be a whole number/],
    [() => db.transaction({}), /a transaction is a function/],
    [() => notes.find({}, { limit: -1 }), /limit must be a whole number from 0 on/],
    [() => notes.find({}, { fields: 'n' }), /fields must be a list of strings/],
    [() => notes.find({}, { sort: [['n', 'down']] }), /sort: give paths/],
    [() => notes.documents({ start: 1 }), /start must be a string/],
    [() => open('memory:', { share: 1 }), /share must be true or false/],
    [() => notes.delete('\ud800'), /half of a surrogate pair/],
    [() => notes.putLocal('\ud800', {}), /half of a surrogate pair/],
  ]
  for (const [does, message] of wrong) {
    await assert.rejects(async () => does(), { name: 'TypeError', message }, String(message))
  }
  assert.deepEqual((await db.branches()).map((one) => one.name), ['idea'])
  assert.equal((await notes.get('a')).n, 1)
  assert.equal(await notes.count(), 1)
  await branch.close()
})
