// Pages that go on while one looks: changes as they come, and parts of a page that are fetched again.
import { complain, element } from './send.js'

// The commit of a sequence: the number of updates may stand before it. Within rules of access a seal stands behind it.
function commitOf(seq) {
  return /^\d+-(\d+)(-[0-9a-f]*-[0-9a-f]*)?$/.exec(seq)?.[1] ?? seq.split(/[-~]/)[0]
}

// Changes of a database: written as rows above the others.
function follow(button) {
  const { live, since, place } = button.dataset
  const rows = document.getElementById('changes')
  const source = new EventSource(`${live}?feed=eventsource&since=${encodeURIComponent(since)}&heartbeat=20000`)
  button.textContent = 'Stop following'
  button.addEventListener('click', () => location.reload(), { once: true })
  source.addEventListener('message', (event) => {
    const { id, seq, changes, deleted } = JSON.parse(event.data)
    const link = element('a', { href: place + encodeURIComponent(id) }, id)
    const row = element('tr', { class: 'new' },
      element('th', { scope: 'row' }, link), element('td', { class: 'number' }, commitOf(seq)),
      element('td', {}, element('code', {}, changes[0].rev)),
      element('td', deleted ? { class: 'gone' } : {}, deleted ? 'deleted' : 'written'), element('td', {}, 'just now'))
    rows.prepend(row)
    while (rows.rows.length > 500) rows.deleteRow(-1)
  })
  source.addEventListener('error', () => source.readyState === EventSource.CLOSED &&
    complain('The changes broke off. Open the page again to go on.'))
}

// The parts of this page that are marked, as the server has them now. What somebody is about to fill in stays.
async function refreshed(parts) {
  const response = await fetch(location.href, { headers: { Accept: 'text/html,application/xhtml+xml' }, credentials: 'same-origin' })
  if (!response.ok) throw new Error(response.statusText)
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  for (const part of parts) {
    const other = page.getElementById(part.id)
    if (other && !part.contains(document.activeElement)) part.replaceChildren(...other.childNodes)
  }
}

export function listen(after) {
  for (const button of document.querySelectorAll('[data-live]')) {
    button.hidden = false
    button.addEventListener('click', () => follow(button), { once: true })
  }
  const parts = [...document.querySelectorAll('[data-again]')]
  const shortest = Math.min(...parts.map(({ dataset }) => Number(dataset.again)))
  if (parts.length) {
    const step = async () => {
      try {
        if (!document.hidden) await refreshed(parts), parts.forEach(after)
        setTimeout(step, shortest)
      } catch {
        complain('This page is no longer kept up to date: the server cannot be reached, or your session has ended. ' +
          'Open it again.')
      }
    }
    setTimeout(step, shortest)
  }
  document.querySelectorAll('[data-newer]').forEach(newer)
}

// A list of documents says that there is something new, and changes nothing by itself. It listens only while it is
// looked at: browsers have few connections to a server.
function newer(place) {
  let count = 0
  let source
  let { since } = place.dataset
  const begin = () => {
    source = new EventSource(`${place.dataset.newer}?feed=eventsource&since=${encodeURIComponent(since)}&heartbeat=20000`)
    source.addEventListener('message', (event) => {
      count += 1
      since = JSON.parse(event.data).seq
      const text = count === 1 ? '1 change since: show it' : `${count} changes since: show them`
      place.replaceChildren(element('a', { href: location.href }, text))
    })
    source.addEventListener('error', () => source.readyState === EventSource.CLOSED && place.replaceChildren())
  }
  document.addEventListener('visibilitychange', () => (document.hidden ? source?.close() : begin()))
  if (!document.hidden) begin()
}
