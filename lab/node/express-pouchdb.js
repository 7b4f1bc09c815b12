// express-pouchdb over LevelDB, as its own README sets it up: DIRECTORY is where the databases lie.
import { createRequire } from 'node:module';
import { join } from 'node:path';
const require = createRequire(import.meta.url);
const express = require('express');
const PouchDB = require('pouchdb');

const directory = process.argv[2];
const app = express();
app.use('/', require('express-pouchdb')(PouchDB.defaults({ prefix: join(directory, '/') }), {
  logPath: join(directory, 'log.txt'),
  configPath: join(directory, 'config.json'),
}));
const server = app.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
process.on('SIGTERM', () => process.exit(0));
