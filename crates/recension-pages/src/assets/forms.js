// Forms that change something. A form says in its attributes which request it is, and this makes it:
// data-send the method, data-to the address, data-then the page behind it; {name} stands there for a field's value.
// data-at of a field is its place in the JSON that is sent, data-kind what is made of its text; data-base is the
// JSON that all that is put into, data-merge an address that has more of it.
import { complain, element, send, sent, tell } from './send.js'

const encode = encodeURIComponent
let changed = false
export const isChanged = () => changed
addEventListener('beforeunload', (event) => changed && event.preventDefault())

// Whether a text is JSON; if not, what is wrong with it is told. What is sent is the text itself: numbers of stored
// documents never become JavaScript's, which would round them.
function isJson(text, field, what) {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    complain(`${what} is no JSON yet: ${error.message}. Correct it, and send it again.`)
    field.focus()
    return false
  }
}

// A JSON text as values whose numbers keep their text: a number is a string that begins with n, and a string, or a
// member's name, begins with s. `written` makes the text again.
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g
const exact = (text) =>
  JSON.parse(text.replace(TOKENS, (token) => (token[0] === '"' ? `"s${token.slice(1)}` : `"n${token}"`)))
const written = (value) =>
  JSON.stringify(value).replace(TOKENS, (token) => (token[1] === 's' ? `"${token.slice(2)}` : token.slice(2, -1)))

const words = (text) => text.split(/[\s,]+/).filter(Boolean)
// The JSON text that a field makes, or nothing.
const kinds = {
  text: (field) => JSON.stringify(field.value),
  list: (field) => JSON.stringify(words(field.value)),
  flag: (field) => field.checked && 'true',
  each: (field) => field.value.trim() && JSON.stringify(field.value.trim()),
  given: (field) => field.value && JSON.stringify(field.value),
  json: (field) => field.value.trim(),
  // An end of a replication: its address, with who logs in there if somebody does.
  end: (field) => {
    const [username, password] = ['name', 'password'].map((part) => field.form.elements[`${field.dataset.at}_${part}`].value)
    return JSON.stringify(username ? { url: field.value, auth: { basic: { username, password } } } : field.value)
  },
}

const touched = (field) =>
  field.options ? !field.selectedOptions[0].defaultSelected : field.value !== field.defaultValue

// The JSON text of the object that a form's fields make; null if one of them does not read.
async function composed(form) {
  const { base, merge } = form.dataset
  const known = merge ? await sent('GET', merge) : '{}'
  if (!known) return null
  const whole = { ...exact(known), ...exact(base ?? '{}') }
  for (const field of form.querySelectorAll('[data-at]')) {
    if (form.dataset.touched !== undefined && !touched(field)) continue
    const text = kinds[field.dataset.kind ?? 'text'](field)
    if (!text) continue
    if (!isJson(text, field, field.dataset.at)) return null
    const path = field.dataset.at.split('/').map((name) => `s${name.replaceAll('~1', '/').replaceAll('~0', '~')}`)
    let place = whole
    for (const name of path.slice(0, -1)) place = place[name] = { ...place[name] }
    const last = path.at(-1)
    place[last] = field.dataset.kind === 'each' ? [...(place[last] ?? []), exact(text)] : exact(text)
  }
  return written(whole)
}

function filled(address, form, answer, file) {
  return address.replace(/\{(\w+)\}/g, (_, name) =>
    encode(name === 'file' ? file.name : (form.elements[name]?.value ?? answer?.[name] ?? '')))
}

// The body of a form's request, with its type; null if it is not to be sent.
async function body(form, method) {
  if (method === 'DELETE') return {}
  const file = form.querySelector('input[type=file]')
  if (file) {
    if (!file.files[0]) return complain('Choose a file first.'), null
    return { file: file.files[0], bytes: file.files[0], type: file.files[0].type || 'application/octet-stream' }
  }
  const text = form.elements.body
  if (text && form.dataset.body === 'text') return { bytes: JSON.stringify(text.value) }
  if (text) {
    if (!isJson(text.value, text, 'This')) return null
    // An empty id is none: the server gives one.
    return { bytes: text.value.replace(/"_id"\s*:\s*""\s*,?/, '') }
  }
  const whole = await composed(form)
  return whole && { bytes: whole }
}

async function submitted(form, submitter) {
  const { send: method, then, sure, typed, said } = form.dataset
  const { to = form.dataset.to, make } = submitter?.dataset ?? {}
  if (sure && !confirm(sure)) return
  if (typed && form.elements.typed.value !== typed) return complain(`Type ${typed} to do this.`)
  const buttons = [...form.querySelectorAll('button')]
  buttons.forEach((button) => (button.disabled = true))
  try {
    const content = await body(form, method)
    if (!content) return
    // Another database that has to be there; one that is there already is as well.
    if (make) await fetch(make, { method: 'PUT', credentials: 'same-origin', headers: { 'Content-Type': 'application/json' } })
    const faster = form.dataset.conflict && (() => compared(form.dataset.conflict, content.bytes))
    const answer = await send(method, filled(to, form, null, content.file), content.bytes, content.type, faster)
    // An answer may be an empty text: what a new setting was before.
    if (answer === null) return
    changed = false
    tell(said ?? 'Done.', true)
    const next = then ? filled(then, form, answer, content.file) : location.href
    next === location.href ? location.reload() : location.assign(next)
  } finally {
    buttons.forEach((button) => (button.disabled = false))
  }
}

// Another was faster: the page that shows both texts, with what was typed.
function compared(to, text) {
  changed = false
  const mine = element('textarea', { name: 'mine' })
  mine.value = text
  const form = element('form', { method: 'post', action: to, hidden: '' }, mine)
  document.body.append(form)
  form.submit()
}

export function listen(within) {
  for (const form of within.querySelectorAll('form[data-send]')) {
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      submitted(form, event.submitter)
    })
  }
  for (const form of within.querySelectorAll('form[data-resolve]')) resolver(form)
  for (const form of within.querySelectorAll('form[data-touched]')) form.addEventListener('input', () => (changed = true))
  for (const field of within.querySelectorAll('textarea')) {
    // What was typed and not saved is not left behind unasked.
    if (field.form?.dataset.send) field.addEventListener('input', () => (changed = true))
    field.addEventListener('keydown', (event) => {
      if ((event.ctrlKey || event.metaKey) && (event.key === 's' || event.key === 'Enter')) {
        event.preventDefault()
        field.form.requestSubmit()
      }
    })
    if (field.dataset.edit !== undefined) editable(field)
  }
}

// An editor in place of a field, as soon as somebody sees it. Without it the field does.
function editable(field) {
  const begin = async () => {
    if (field.dataset.begun) return
    field.dataset.begun = 'yes'
    const { edit } = await import('./editor.js')
    const place = element('div', { class: 'editor' })
    ;(field.closest('label') ?? field).after(place)
    const changing = (text) => {
      field.value = text
      field.dispatchEvent(new Event('input'))
    }
    const save = () => field.form.requestSubmit()
    const root = place.attachShadow({ mode: 'open', delegatesFocus: true })
    const view = edit({ root, text: field.value, label: field.dataset.edit, changed: changing, save })
    field.hidden = true
    field.focus = () => view.focus()
    field.shown = (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } })
  }
  new IntersectionObserver((seen, own) => {
    if (seen.some(({ isIntersecting }) => isIntersecting)) own.disconnect() || begin()
  }, { rootMargin: '400px' }).observe(field)
}

// Revisions in conflict: what is chosen of each member makes a document, which can be edited before it is sent; then
// the other revisions go. The values are texts that the server wrote, put together as they are.
function resolver(form) {
  const text = form.querySelector('textarea')
  const rows = [...form.querySelectorAll('tr[data-name]')]
  const merge = () => {
    const members = rows.flatMap((row) => {
      const chosen = row.querySelector('input:checked')?.closest('td') ?? row.querySelector('td')
      const { value } = chosen.dataset
      return value === undefined ? [] : [`${row.dataset.name}: ${value.replaceAll('\n', '\n  ')}`]
    })
    const shown = `{\n  ${[form.dataset.head, ...members].join(',\n  ')}\n}`
    text.value = shown
    text.shown?.(shown)
  }
  form.querySelectorAll('input[type=radio]').forEach((radio) => radio.addEventListener('change', merge))
  merge()
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    if (!isJson(text.value, text, 'What is to be kept')) return
    // What is kept first: whatever fails then, nothing is lost.
    const { resolve: to } = form.dataset
    if (!(await send('PUT', to, text.value))) return
    for (const { dataset } of form.querySelectorAll('[data-loser]')) {
      if (!(await send('DELETE', `${to}?rev=${encode(dataset.loser)}`))) return
    }
    changed = false
    tell('The conflict is resolved.', true)
    location.assign(form.dataset.then)
  })
}
