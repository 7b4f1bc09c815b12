// One replication by PouchDB between a database in memory and a server, timed without start and set-up.
//   node sync.js push URL DOCUMENTS.json    the documents are in memory first, and go to the server
//   node sync.js pull URL FOUND.json        the server's documents come into memory, and are written to the file
// Prints {"ns": ..., "documents": ...}.
import { readFileSync, writeFileSync } from 'node:fs';
import PouchDB from 'pouchdb';
import memory from 'pouchdb-adapter-memory';
PouchDB.plugin(memory);

const [direction, url, file] = process.argv.slice(2);
const local = new PouchDB('local', { adapter: 'memory' });
const remote = new PouchDB(url);
if (direction === 'push') await local.bulkDocs(JSON.parse(readFileSync(file, 'utf8')));
await remote.info();
const begin = process.hrtime.bigint();
const options = { batch_size: 1000 };
const done = direction === 'push' ? await local.replicate.to(remote, options) : await local.replicate.from(remote, options);
const ns = Number(process.hrtime.bigint() - begin);
if (direction === 'pull') {
  const { rows } = await local.allDocs({ include_docs: true });
  writeFileSync(file, JSON.stringify({ total_rows: rows.length, offset: 0, rows }));
}
console.log(JSON.stringify({ ns, documents: done.docs_written }));
