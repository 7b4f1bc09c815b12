// Plots of what the server counts: what it has noted of the last hours, and then what it goes on noting.
import uPlot from './uplot.js'
import { complain, element } from './send.js'

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()
const units = ['', 'k', 'M', 'G', 'T']
function short(value) {
  if (value == null) return '–'
  let unit = 0
  let number = Math.abs(value)
  while (number >= 1000 && unit < units.length - 1) (number /= 1000), (unit += 1)
  const digits = number >= 100 || Number.isInteger(number) ? 0 : number >= 10 ? 1 : 2
  return `${value < 0 ? '-' : ''}${number.toFixed(digits)}${units[unit]}`
}

// Seconds are told where the marks are closer than a minute.
const hours = (_, times, axis, space, step) =>
  times.map((seconds) => new Date(seconds * 1000).toTimeString().slice(0, step < 60 ? 8 : 5))

function options(plot, width) {
  const axis = { stroke: colour('--quiet'), grid: { stroke: colour('--line') }, ticks: { stroke: colour('--line') } }
  const series = plot.series.map(({ name }, number) => ({
    label: name, stroke: colour(number ? '--bad' : '--link'), width: 2, value: (_, value) => short(value),
    fill: number ? undefined : `color-mix(in srgb, ${colour('--link')} 14%, transparent)`,
  }))
  return {
    width, height: 190, series: [{ value: '{YYYY}-{MM}-{DD} {HH}:{mm}:{ss}' }, ...series],
    axes: [{ ...axis, space: 58, values: hours }, { ...axis, size: 56, values: (_, values) => values.map(short) }],
    scales: { y: { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.1 : 1] } },
    cursor: { sync: { key: 'server' } },
  }
}

// Seconds, then a list of values for each series; a rate is what a counter grew by a second.
function data(plot, { times, values }) {
  const columns = plot.series.map(({ key, rate }) => values[key].map((value, at) => {
    if (!rate) return value
    const seconds = times[at] - times[at - 1]
    return at && seconds > 0 ? Math.max(0, value - values[key][at - 1]) / seconds : null
  }))
  return [times, ...columns]
}

async function samples(address) {
  const response = await fetch(address, { credentials: 'same-origin', headers: { Accept: 'application/json' } })
  if (!response.ok) throw new Error(response.statusText)
  return response.json()
}

export async function show(place) {
  const plots = JSON.parse(place.dataset.plots)
  let known
  try {
    known = await samples(place.dataset.samples)
  } catch {
    return complain('The plots cannot be shown: the server did not answer. Open the page again.')
  }
  document.head.append(element('link', { rel: 'stylesheet', href: new URL('./uplot.css', import.meta.url).pathname }))
  place.replaceChildren()
  const made = plots.map((plot) => {
    const figure = element('figure', {}, element('figcaption', {}, plot.title))
    place.append(figure)
    return [plot, new uPlot(options(plot, figure.clientWidth - 2), data(plot, known), figure), figure]
  })
  new ResizeObserver(() => made.forEach(([, drawn, figure]) =>
    drawn.setSize({ width: figure.clientWidth - 2, height: 190 }))).observe(place)
  const step = async () => {
    try {
      if (!document.hidden) {
        known = await samples(place.dataset.samples)
        made.forEach(([plot, drawn]) => drawn.setData(data(plot, known)))
      }
      setTimeout(step, 5000)
    } catch {
      complain('The plots are no longer kept up to date: the server cannot be reached. Open the page again.')
    }
  }
  setTimeout(step, 5000)
  place.dataset.drawn = 'yes'
}
