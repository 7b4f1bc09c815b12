// The rows of a list that are chosen, and files that are dropped on it.
import { complain, element, send, tell } from './send.js'

export function listen() {
  const form = document.querySelector('form[data-chosen]')
  if (form) chosen(form)
  const importing = document.querySelector('form[data-import]')
  if (!importing) return
  const take = async (file) => {
    importing.closest('details').open = true
    const { take } = await import('./import.js')
    await take(file, importing.dataset.import, importing.querySelector('output'))
  }
  importing.addEventListener('submit', (event) => {
    event.preventDefault()
    const [file] = importing.querySelector('input[type=file]').files
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
