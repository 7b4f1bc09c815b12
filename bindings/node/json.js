// JSON in which integers that a number of JavaScript cannot hold are BigInts, there and back. Texts without such
// integers, and values without BigInts, go through JSON itself.
'use strict'

const { randomBytes } = require('node:crypto')

/** What no text of a document begins with: it marks the digits of a BigInt while JSON has no other way. */
const MARK = `bigint:${randomBytes(12).toString('hex')}:`
const MARKED = new RegExp(`"${MARK}(-?[0-9]+)"`, 'g')

/** Strings, so that digits in them are passed over, and numbers. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/g

function marked(token) {
  if (token[0] === '"' || /[.eE]/.test(token) || Number.isSafeInteger(Number(token))) return token
  return `"${MARK}${token}"`
}

function unmarked(_, value) {
  return typeof value === 'string' && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value
}

/** The value of a text. */
function parse(text) {
  // Fewer digits are always a safe integer.
  if (!/[0-9]{16}/.test(text)) return JSON.parse(text)
  return JSON.parse(text.replace(TOKENS, marked), unmarked)
}

/** The text of a value. */
function stringify(value) {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (!(error instanceof TypeError) || !/BigInt/.test(error.message)) throw error
    const mark = (_, member) => (typeof member === 'bigint' ? `${MARK}${member}` : member)
    return JSON.stringify(value, mark).replace(MARKED, '$1')
  }
}

module.exports = { parse, stringify }
