// Requests to the server, and what is told of them. An error stays until it is dismissed, and says what to do.
const notices = document.getElementById('notices')

// Where the server's paths begin: this module is below `/_utils/-/` there.
export const base = new URL(import.meta.url).pathname.split('/_utils/-/')[0]

// An element with its attributes and what is in it; texts are texts.
export function element(name, attributes = {}, ...inner) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...inner)
  return made
}

export function complain(text) {
  const place = element('p', { class: 'error', role: 'alert' }, element('span', {}, text))
  const close = element('button', { type: 'button' }, 'Dismiss')
  close.addEventListener('click', () => place.remove())
  place.append(close)
  notices?.append(place)
  place.scrollIntoView({ block: 'nearest' })
}

// Tells that something was done: here, or on the page that comes next.
export function tell(text, next) {
  if (next) return sessionStorage.setItem('told', text)
  const place = element('p', { class: 'notice', role: 'status' }, text)
  notices?.append(place)
}

export function told() {
  const text = sessionStorage.getItem('told')
  sessionStorage.removeItem('told')
  if (text) tell(text)
}

const advice = {
  400: 'Correct what it names, and send it again.',
  401: 'Log in first: your session has ended.',
  403: 'You do not have the right to do this; ask an admin.',
  404: 'It may have been deleted meanwhile: open the page again.',
  409: 'Someone else has changed it meanwhile: open the page again, look at what it says now, and do it again.',
  412: 'There is one of this name already: choose another name.',
  413: 'It is too large: make it smaller, or raise the limit in the settings.',
}

// Sends a request; answers its JSON, or null if it failed, which was complained about then.
export async function send(...request) {
  const text = await sent(...request)
  return text === null ? null : (read(text) ?? {})
}

function read(text) {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

// The same, with the answer's text: what holds stored numbers is not read into JavaScript's.
export async function sent(method, to, body, type = 'application/json', conflict = null) {
  const headers = { Accept: 'application/json', 'Content-Type': type }
  let response
  try {
    response = await fetch(to, { method, headers, body, credentials: 'same-origin' })
  } catch {
    complain('The server cannot be reached. Nothing is known to have changed: look at the page again, and try again.')
    return null
  }
  const text = await response.text().catch(() => '')
  if (response.ok) return text
  if (response.status === 409 && conflict) return conflict(), null
  const what = String(read(text)?.reason ?? response.statusText).replace(/\.$/, '')
  // What does not fit is not a matter of rights.
  const status = /schema|valid/.test(what) && response.status === 403 ? 400 : response.status
  const next = advice[status] ?? 'Try again; if it stays, the log says more.'
  complain(`${response.status}: ${what}. ${next}`)
  return null
}
