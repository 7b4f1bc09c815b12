// What the console does in the browser. Pages read without it. Nothing is written as HTML, and what changes something
// is a request that any client could send.
import * as forms from './forms.js'
import * as live from './live.js'
import * as rows from './rows.js'
import { base, complain, send, told } from './send.js'

told()
document.querySelector('.tabs [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
forms.listen(document)
live.listen(forms.listen)
rows.listen()

for (const place of document.querySelectorAll('[data-plots]')) {
  const { show } = await import('./plots.js')
  show(place)
}

for (const slider of document.querySelectorAll('[data-moment]')) {
  const shown = slider.form.querySelector('output')
  slider.addEventListener('input', () => {
    shown.textContent = slider.value === slider.max ? 'now' : new Date(slider.value * 1000).toISOString().replace('T', ' ').slice(0, 19)
  })
  // The end of the slider is now: the server takes what is not past for that.
  slider.addEventListener('change', () => slider.form.requestSubmit())
  slider.form.querySelector('button').hidden = true
}

for (const button of document.querySelectorAll('[data-log-out]')) {
  button.hidden = false
  button.addEventListener('click', async () => {
    if (await send('DELETE', `${base}/_session`)) location.assign(`${base}/_utils/`)
  })
}

// A picture that cannot be shown says so.
for (const picture of document.querySelectorAll('.attachments img')) {
  picture.addEventListener('error', () => picture.replaceWith('(no picture that this browser shows)'))
}

// A search field offers members and values for the condition that is being typed, behind those that stand.
for (const field of document.querySelectorAll('input[data-filter][list]')) {
  const options = [...field.list.options]
  const offers = options.map(({ value }) => value)
  field.addEventListener('input', () => {
    const [before] = field.value.match(/^(.*(\b(and|or|not)\s+|\())?/i)
    options.forEach((option, at) => (option.value = before + offers[at]))
  })
}

addEventListener('unhandledrejection', () => complain('Something went wrong in this page. Open it again.'))

// Keys: / goes to the search, ] to the next page, [ to the one before.
addEventListener('keydown', (event) => {
  if (event.target.closest('input, textarea, select, .editor') || event.ctrlKey || event.metaKey || event.altKey) return
  const to = { '/': '[data-filter]', ']': 'a[rel=next]', '[': 'a[rel=prev]' }[event.key]
  const target = to && document.querySelector(to)
  if (!target) return
  event.preventDefault()
  event.key === '/' ? target.focus() : target.click()
})
