// What the console changes, it changes here: with requests that any client could send. Pages say in their attributes
// what a form does; this module makes a request of it, and tells what came of it. Nothing is written as HTML.
const notices = document.getElementById('notices')

// An error stays until it is dismissed.
function complain(text) {
  const place = document.createElement('p')
  place.className = 'error'
  place.setAttribute('role', 'alert')
  place.append(text)
  const close = document.createElement('button')
  close.type = 'button'
  close.textContent = 'Dismiss'
  close.addEventListener('click', () => place.remove())
  place.append(close)
  notices?.append(place)
  place.scrollIntoView({ block: 'nearest' })
}

const advice = {
  401: 'Log in first.',
  403: 'You do not have the right to do this.',
  409: 'Someone else has changed it meanwhile: open the page again, look at what it says now, and do it again.',
  412: 'There is one of this name already.',
  413: 'It is too large.',
}

async function send(method, to, body) {
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json' }
  let response
  try {
    response = await fetch(to, { method, headers, body, credentials: 'same-origin' })
  } catch {
    complain('The server cannot be reached. Nothing was changed; try again.')
    return null
  }
  const answer = await response.json().catch(() => ({}))
  if (response.ok) return answer
  const what = String(answer.reason ?? response.statusText).replace(/\.$/, '')
  const reason = [what, advice[response.status]].filter(Boolean).join('. ')
  complain(`${response.status}: ${reason}`)
  return null
}

function encodeId(id) {
  return encodeURIComponent(id)
}

// A JSON text, or what is wrong with it, with its line.
function checked(field) {
  try {
    JSON.parse(field.value)
    return true
  } catch (error) {
    complain(`This is no JSON yet: ${error.message}`)
    field.focus()
    return false
  }
}

for (const form of document.querySelectorAll('form[data-send]')) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const { send: method, to, then, sure, typed } = form.dataset
    if (sure && !confirm(sure)) return
    if (typed && form.elements.typed.value !== typed) return complain(`Type ${typed} to do this.`)
    const field = form.elements.body
    if (field && !checked(field)) return
    // An empty id is none: the server gives one.
    const body = field?.value.replace(/"_id"\s*:\s*""\s*,?/, '')
    const button = form.querySelector('button')
    button.disabled = true
    const answer = await send(method, to, method === 'DELETE' ? undefined : (body ?? '{}'))
    button.disabled = false
    if (!answer) return
    changed = false
    location.assign(then.endsWith('/doc/') ? then + encodeId(answer.id) : then)
  })
}

for (const form of document.querySelectorAll('form[data-create=database]')) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const name = encodeId(form.elements.id.value)
    if (await send('PUT', `/${name}`)) location.assign(`/_utils/${name}`)
  })
}

// What was typed and not saved is not left behind unasked.
let changed = false
for (const field of document.querySelectorAll('textarea')) {
  field.addEventListener('input', () => (changed = true))
  field.addEventListener('keydown', (event) => {
    if ((event.ctrlKey || event.metaKey) && (event.key === 's' || event.key === 'Enter')) {
      event.preventDefault()
      field.form.requestSubmit()
    }
  })
}
addEventListener('beforeunload', (event) => changed && event.preventDefault())

for (const slider of document.querySelectorAll('[data-moment]')) {
  const told = slider.form.querySelector('output')
  slider.addEventListener('input', () => {
    told.textContent = slider.value === slider.max ? 'now' : `commit ${slider.value} of ${slider.max}`
  })
  slider.addEventListener('change', () => {
    // The end of the slider is now, and goes on with it.
    if (slider.value === slider.max) slider.disabled = true
    slider.form.requestSubmit()
  })
  slider.form.querySelector('button').hidden = true
}

for (const button of document.querySelectorAll('[data-log-out]')) {
  button.hidden = false
  button.addEventListener('click', async () => {
    if (await send('DELETE', '/_session')) location.assign('/_utils/')
  })
}

for (const button of document.querySelectorAll('[data-live]')) {
  button.hidden = false
  button.addEventListener('click', () => follow(button))
}

function follow(button) {
  const { live, since, place } = button.dataset
  const rows = document.getElementById('changes')
  const source = new EventSource(`${live}?feed=eventsource&since=${encodeURIComponent(since)}&heartbeat=20000`)
  button.disabled = true
  button.textContent = 'Following …'
  source.addEventListener('message', (event) => {
    const { id, seq, changes, deleted } = JSON.parse(event.data)
    const row = rows.insertRow(0)
    const head = document.createElement('th')
    head.scope = 'row'
    const link = document.createElement('a')
    link.href = place + encodeId(id)
    link.textContent = id
    head.append(link)
    row.append(head)
    const commit = row.insertCell()
    commit.className = 'number'
    commit.textContent = String(seq).split('-')[0]
    const rev = document.createElement('code')
    rev.textContent = changes[0].rev
    row.insertCell().append(rev)
    row.insertCell().textContent = deleted ? 'deleted' : 'written'
    while (rows.rows.length > 500) rows.deleteRow(-1)
  })
  source.addEventListener('error', () => source.readyState === EventSource.CLOSED && complain('The changes broke off.'))
}

// Keys: / goes to the filter, ] to the next page.
addEventListener('keydown', (event) => {
  if (event.target.closest('input, textarea, select') || event.ctrlKey || event.metaKey || event.altKey) return
  const to = { '/': '[data-filter]', ']': 'a[rel=next]' }[event.key]
  const target = to && document.querySelector(to)
  if (!target) return
  event.preventDefault()
  event.key === '/' ? target.focus() : target.click()
})
