// A file that somebody chooses or drops becomes documents. Its text is taken apart and put together again: no number
// of it becomes one of JavaScript's, which would round it.
import { complain, send, tell } from './send.js'

const BATCH = 500
const FILE_BYTES_MAX = 64 * 1024 * 1024
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

// The texts between the commas of a JSON array, which is sound.
function elements(text) {
  const found = []
  let [depth, begin, quoted] = [0, 0, false]
  for (let at = 0; at < text.length; at++) {
    const c = text[at]
    if (quoted) {
      if (c === '\\') at++
      else if (c === '"') quoted = false
    } else if (c === '"') quoted = true
    else if (c === '[' || c === '{') depth++ || (begin = at + 1)
    else if (c === ']' || c === '}') {
      if (--depth) continue
      found.push(text.slice(begin, at))
      break
    }
    else if (c === ',' && depth === 1) {
      found.push(text.slice(begin, at))
      begin = at + 1
    }
  }
  return found.map((one) => one.trim()).filter(Boolean)
}

function ofJson(text) {
  const lines = () => text.split('\n').map((line) => line.trim()).filter(Boolean)
  let whole
  try {
    whole = JSON.parse(text)
  } catch (error) {
    const all = lines()
    // A document a line; the first line that is none is told.
    if (all.length < 2 || !all[0].endsWith('}')) throw error
    all.forEach((line, at) => {
      try {
        JSON.parse(line)
      } catch (why) {
        throw new Error(`line ${at + 1} is no JSON: ${why.message}`)
      }
    })
    return all
  }
  if (Array.isArray(whole)) return elements(text.trim())
  if (!Array.isArray(whole?.docs)) return [text.trim()]
  // {"docs": […]}: the array begins behind the name.
  return elements(text.slice(text.indexOf('[', text.search(/"docs"\s*:/))))
}

function rowsOf(text, comma) {
  const rows = [[]]
  let [field, quoted, was] = ['', false, false]
  const end = () => (rows.at(-1).push({ text: field, quoted: was }), (field = ''), (was = false))
  for (let at = 0; at < text.length; at++) {
    const c = text[at]
    if (quoted) {
      if (c !== '"') field += c
      else if (text[at + 1] === '"') (field += '"'), at++
      else quoted = false
    } else if (c === '"' && !field) quoted = was = true
    else if (c === comma) end()
    else if (c === '\n') end(), rows.push([])
    else if (c !== '\r' || text[at + 1] !== '\n') field += c
  }
  if (quoted) throw new Error('a quote is open at its end')
  end()
  return rows.filter((row) => row.length > 1 || row[0].text || row[0].quoted)
}

function ofCsv(text) {
  const first = text.slice(0, text.indexOf('\n') + 1 || undefined)
  const comma = [',', ';', '\t'].sort((one, other) => first.split(other).length - first.split(one).length)[0]
  const [head, ...rows] = rowsOf(text, comma)
  const names = head.map(({ text }) => text.trim())
  if (names.some((name) => !name)) throw new Error('a column has no name: the first line has to have the names')
  const value = ({ text, quoted }) => (!quoted && (NUMBER.test(text) || text === 'true' || text === 'false') ? text : JSON.stringify(text))
  return rows.map((row, at) => {
    if (row.length > names.length) throw new Error(`row ${at + 2} has more fields than there are names`)
    const members = row.flatMap((field, n) => (field.text === '' && !field.quoted ? []
      : [`${JSON.stringify(names[n])}:${names[n] === '_id' ? JSON.stringify(field.text) : value(field)}`]))
    return `{${members.join(',')}}`
  })
}

// Imports a file; says in `shown` how far it is, and goes to the page `then` behind it.
export async function take(file, { import: to, then }, shown) {
  if (file.size > FILE_BYTES_MAX) return complain('The file is larger than 64 MiB: import it with recension import.')
  let documents
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer())
    documents = /^\s*[[{]/.test(text) ? ofJson(text) : ofCsv(text)
  } catch (error) {
    return complain(`${file.name} cannot be read: ${error.message}. Nothing was imported.`)
  }
  let [made, refused, first] = [0, 0, '']
  for (let at = 0; at < documents.length; at += BATCH) {
    const answers = await send('POST', to, `{"docs":[${documents.slice(at, at + BATCH).join(',')}]}`)
    if (!answers) return complain(`${made} documents were imported before that; the others were not.`)
    for (const { id, error, reason } of answers) {
      error ? (refused++, (first ||= `${id}: ${reason}`)) : made++
    }
    shown.textContent = `${made} of ${documents.length}`
  }
  if (refused) return complain(`${made} documents were imported, and ${refused} refused; the first: ${first}`)
  tell(`${made} documents were imported.`, true)
  then ? location.assign(then) : location.reload()
}
