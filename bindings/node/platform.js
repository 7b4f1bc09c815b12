// Which compiled part this process can load: the one that was built here, else the package's own for the platform.
'use strict'

const { existsSync, readdirSync } = require('node:fs')
const path = require('node:path')

/** The system, the processor and, on Linux, the C library: `linux-x64-gnu`. */
function platform() {
  const names = [process.platform, process.arch]
  if (process.platform === 'linux') {
    names.push(process.report.getReport().header.glibcVersionRuntime ? 'gnu' : 'musl')
  }
  return names.join('-')
}

/** The file to load, in the folder of the package. */
function library(folder) {
  const built = path.join(folder, 'recension.node')
  if (existsSync(built)) return built
  const all = path.join(folder, 'platforms')
  const own = path.join(all, platform(), 'recension.node')
  if (existsSync(own)) return own
  const others = existsSync(all) ? readdirSync(all).join(', ') : 'none'
  throw new Error(
    `recension-db has no compiled part for ${platform()} (it has: ${others}); ` +
      'build it from the repository: scripts/node-module build',
  )
}

module.exports = { library, platform }
