// JSON in which numbers that those of JavaScript cannot hold are BigInts, or objects that keep their text, there and
// back. Texts without such numbers, and values without them, go through JSON itself.
'use strict'

const { randomBytes } = require('node:crypto')

/** What no text of a document begins with: it marks a number that is kept while JSON has no other way. */
const MARK = `number:${randomBytes(12).toString('hex')}:`
const MARKED = new RegExp(`"${MARK}([^"]+)"`, 'g')

/** Strings, so that digits in them are passed over, and numbers. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/g
const NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$/

/** Whether `stringify` writes marks just now, and whether it has met what needs them. */
let marking = false
let met = false

/** A number as its text: equal to no other object, and a usual number wherever one is reckoned with. */
class ExactNumber extends Number {
  constructor(text) {
    if (typeof text !== 'string' || !NUMBER.test(text)) throw new TypeError('an exact number is made of its text in JSON')
    super(text)
    Object.defineProperty(this, 'text', { value: text })
  }

  toString() {
    return this.text
  }

  toJSON() {
    met = true
    return marking ? MARK + this.text : Number(this)
  }
}

function isLarge(token) {
  return !/[.eE]/.test(token) && !Number.isSafeInteger(Number(token))
}

function markedIf(kept) {
  return (token) => (token[0] === '"' || !kept(token) ? token : `"${MARK}${token}"`)
}

const largeMarked = markedIf(isLarge)
const otherMarked = markedIf((token) => String(Number(token)) !== token || isLarge(token))

function unmarked(_, value) {
  if (typeof value !== 'string' || !value.startsWith(MARK)) return value
  const text = value.slice(MARK.length)
  return isLarge(text) ? BigInt(text) : new ExactNumber(text)
}

/** The value of a text, with BigInts. */
function parse(text) {
  // Fewer digits are always a safe integer.
  if (!/[0-9]{16}/.test(text)) return JSON.parse(text)
  return JSON.parse(text.replace(TOKENS, largeMarked), unmarked)
}

/** The value of a text, with BigInts and ExactNumbers. */
function parseExact(text) {
  return JSON.parse(text.replace(TOKENS, otherMarked), unmarked)
}

/** What the compiled part is told of a program that reads so: whether large integers are exact; nothing if all are. */
function exactness(parsing) {
  return parsing === parseExact ? undefined : parsing === parse
}

/** What JSON writes as {}, whatever is in it. */
const WITHOUT_MEMBERS = [Map, Set, WeakMap, WeakSet, RegExp, Error, Promise, ArrayBuffer]
/** What such values have become in a text; typed arrays become members that are named by numbers. */
const PERHAPS_LOST = /null|\{\}|"0":/

/** What a value is that JSON has no text for; nothing of other values. */
function lost(value) {
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`
  if (value === undefined || (typeof value === 'number' && !Number.isFinite(value))) return String(value)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'a Date of no time' : undefined
  if (value === null || typeof value !== 'object' || typeof value.toJSON === 'function') return undefined
  const bytes = ArrayBuffer.isView(value) && value.constructor
  const kind = bytes || WITHOUT_MEMBERS.find((kind) => value instanceof kind)
  return kind && `a value of the type ${kind.name}`
}

/**
 * Refuses what JSON would write as something else. `all`: also members that are undefined or functions, which are
 * left out of documents.
 */
function check(value, what, all) {
  const kind = lost(value)
  if (value instanceof RegExp) throw new TypeError(`${what} is a RegExp: write { $regex: 'text' }`)
  if (kind !== undefined) throw new TypeError(`${what} is ${kind}, which JSON does not have`)
  if (value === null || typeof value !== 'object' || value instanceof Number) return
  if (typeof value.toJSON === 'function') return check(value.toJSON(), what, all)
  for (const [member, inner] of Object.entries(value)) {
    const isLeftOut = !all && !Array.isArray(value) && (inner === undefined || typeof inner === 'function')
    if (!isLeftOut) check(inner, Array.isArray(value) ? `${what}[${member}]` : `${what}.${member}`, all)
  }
}

/** The text of a document. */
function stringify(value, what) {
  const text = spelled(value)
  if (PERHAPS_LOST.test(text)) check(value, what, false)
  return text
}

function spelled(value) {
  try {
    met = false
    const text = JSON.stringify(value)
    if (!met) return text
  } catch (error) {
    if (!(error instanceof TypeError) || !/BigInt/.test(error.message)) throw error
  }
  try {
    marking = true
    const mark = (_, member) => (typeof member === 'bigint' ? `${MARK}${member}` : member)
    return JSON.stringify(value, mark).replace(MARKED, '$1')
  } finally {
    marking = false
  }
}

module.exports = { parse, parseExact, exactness, check, stringify, spelled, ExactNumber }
