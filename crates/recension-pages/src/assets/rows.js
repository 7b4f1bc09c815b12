// The rows of a list that are chosen, documents that open beside it, and files that are dropped on it.
import * as forms from './forms.js'
import { complain, element, send, tell } from './send.js'

export function listen() {
  const form = document.querySelector('form[data-chosen]')
  if (form) chosen(form)
  const list = document.querySelector('.split > .list')
  if (list) besides(list)
  const place = document.querySelector('[data-import]')
  if (!place) return
  const take = async (file) => {
    const { take } = await import('./import.js')
    await take(file, place.dataset, place.querySelector('output') ?? place)
  }
  place.addEventListener('submit', (event) => {
    event.preventDefault()
    const [file] = place.querySelector('input[type=file]').files
    file ? take(file) : complain('Choose a file first.')
  })
  addEventListener('dragover', (event) => event.dataTransfer.types.includes('Files') && event.preventDefault())
  addEventListener('drop', (event) => {
    const [file] = event.dataTransfer.files
    if (!file) return
    event.preventDefault()
    take(file)
  })
}

// A document opens beside its list without the list being read again. The links lead to the same page without this.
function besides(list) {
  const links = [...list.querySelectorAll('tbody th > a, .box > a')]
  let at = location.search
  const named = (address) => new URL(address).searchParams.get('doc')
  const mark = () => {
    const shown = named(location.href)
    for (const link of links.filter(({ className }) => className !== 'edit')) {
      if (shown !== null && named(link.href) === shown) link.setAttribute('aria-current', 'true')
      else link.removeAttribute('aria-current')
    }
  }
  const show = async (address) => {
    let page
    try {
      const response = await fetch(address, { headers: { Accept: 'text/html' }, credentials: 'same-origin' })
      page = new DOMParser().parseFromString(await response.text(), 'text/html')
    } catch {}
    const place = page?.querySelector('.split > .doc')
    if (!place) return location.assign(address)
    list.parentElement.querySelector('.doc')?.remove()
    list.before(place)
    history.pushState(null, '', address)
    at = location.search
    mark()
    forms.listen(place)
    place.tabIndex = -1
    place.focus({ preventScroll: matchMedia('(min-width: 62rem)').matches })
  }
  for (const link of links) {
    link.addEventListener('click', (event) => {
      // What was typed and not saved is asked for by the browser.
      if (event.ctrlKey || event.metaKey || event.shiftKey || forms.isChanged()) return
      event.preventDefault()
      show(link.href)
    })
  }
  // A step back to what was shown before; a step within the page (#) is none.
  addEventListener('popstate', () => location.search !== at && location.reload())
  mark()
}

function chosen(form) {
  const boxes = [...document.querySelectorAll('td.box input')]
  const all = element('input', { type: 'checkbox', 'aria-label': 'Choose all rows of this page' })
  document.querySelector('th.box')?.replaceChildren(all)
  const remove = form.querySelector('[data-delete]')
  const seen = () => {
    const count = boxes.filter(({ checked }) => checked).length
    form.querySelector('span').textContent = count === 1 ? '1 chosen row:' : `${count} chosen rows:`
    form.querySelectorAll('button').forEach((button) => (button.disabled = !count))
    all.checked = count === boxes.length
  }
  all.addEventListener('change', () => (boxes.forEach((box) => (box.checked = all.checked)), seen()))
  boxes.forEach((box) => box.addEventListener('change', seen))
  if (remove) remove.hidden = false
  seen()
  remove?.addEventListener('click', async () => {
    const revs = JSON.parse(form.dataset.revs)
    const docs = boxes.filter(({ checked }) => checked).map(({ value }) => ({ _id: value, _rev: revs[value], _deleted: true }))
    if (!confirm(`Delete ${docs.length} documents? Their history stays, and they can be restored.`)) return
    const answers = await send('POST', form.dataset.chosen, JSON.stringify({ docs }))
    if (!answers) return
    const refused = answers.filter(({ error }) => error)
    // Whoever was faster has the newer revision: that one is not deleted unseen.
    if (refused.length) return complain(`${docs.length - refused.length} were deleted, ${refused.length} not: ${refused[0].id}: ${refused[0].reason}`)
    tell(`${docs.length} documents were deleted.`, true)
    location.reload()
  })
}
