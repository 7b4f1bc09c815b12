// Forms that change something. A form says in its attributes which request it is, and this makes it:
// data-send the method, data-to the address, data-then the page behind it; {name} stands there for a field's value.
// data-at of a field is its place in the JSON that is sent, data-kind what is made of its text; data-base is the
// JSON that all that is put into, data-merge an address that has more of it.
import { complain, element, send, tell } from './send.js'

const encode = encodeURIComponent
let changed = false
addEventListener('beforeunload', (event) => changed && event.preventDefault())

// A JSON text, or what is wrong with it, with its line.
function parsed(text, field, what) {
  try {
    return JSON.parse(text)
  } catch (error) {
    complain(`${what} is no JSON yet: ${error.message}. Correct it, and send it again.`)
    field.focus()
    return undefined
  }
}

const words = (text) => text.split(/[\s,]+/).filter(Boolean)
const kinds = {
  text: (field) => field.value,
  list: (field) => words(field.value),
  flag: (field) => field.checked || undefined,
  number: (field) => (field.value === '' ? undefined : Number(field.value)),
  given: (field) => (field.value === '' ? undefined : field.value),
  json: (field) => (field.value.trim() === '' ? undefined : parsed(field.value, field, field.dataset.at)),
}

// The object that a form's fields make; null if one of them does not read.
async function composed(form) {
  const { base, merge } = form.dataset
  const known = merge ? await send('GET', merge) : {}
  if (!known) return null
  const whole = { ...known, ...JSON.parse(base ?? '{}') }
  for (const field of form.querySelectorAll('[data-at]')) {
    const value = kinds[field.dataset.kind ?? 'text'](field)
    if (value === undefined && field.dataset.kind === 'json' && field.value.trim() !== '') return null
    if (value === undefined) continue
    const path = field.dataset.at.split('/')
    let place = whole
    for (const name of path.slice(0, -1)) place = place[name] = { ...place[name] }
    place[path.at(-1)] = value
  }
  return whole
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
    if (parsed(text.value, text, 'This') === undefined) return null
    // An empty id is none: the server gives one.
    return { bytes: text.value.replace(/"_id"\s*:\s*""\s*,?/, '') }
  }
  const whole = await composed(form)
  return whole && { bytes: JSON.stringify(whole) }
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
    const answer = await send(method, filled(to, form, null, content.file), content.bytes, content.type)
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

export function listen(within) {
  for (const form of within.querySelectorAll('form[data-send]')) {
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      submitted(form, event.submitter)
    })
  }
  for (const form of within.querySelectorAll('form[data-resolve]')) resolver(form)
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
  }).observe(field)
}

// Revisions in conflict: what is chosen of each member makes a document, which can be edited before it is sent; then
// the other revisions go.
function resolver(form) {
  const revisions = [...form.querySelectorAll('[data-doc]')].map((place) => JSON.parse(place.dataset.doc))
  const text = form.querySelector('textarea')
  const merge = () => {
    const { _id, _rev } = revisions[0]
    const whole = { _id, _rev }
    const names = new Set(revisions.flatMap(Object.keys).filter((name) => !name.startsWith('_')))
    for (const name of names) {
      const radios = form.querySelectorAll('input[type=radio]:checked')
      const chosen = [...radios].find((radio) => radio.dataset.member === name)
      const of = revisions[Number(chosen?.value ?? 0)]
      if (name in of) whole[name] = of[name]
    }
    if (revisions[0]._attachments) whole._attachments = revisions[0]._attachments
    const shown = JSON.stringify(whole, null, 2)
    text.value = shown
    text.shown?.(shown)
  }
  form.querySelectorAll('input[type=radio]').forEach((radio) => radio.addEventListener('change', merge))
  merge()
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const whole = parsed(text.value, text, 'What is to be kept')
    if (whole === undefined) return
    // What is kept first: whatever fails then, nothing is lost.
    const { resolve: to } = form.dataset
    if (!(await send('PUT', to, JSON.stringify(whole)))) return
    for (const { _rev } of revisions.slice(1)) {
      if (!(await send('DELETE', `${to}?rev=${encode(_rev)}`))) return
    }
    changed = false
    tell('The conflict is resolved.', true)
    location.assign(form.dataset.then)
  })
}
