/** A plugin of PouchDB: `PouchDB.plugin(require('recension-db/pouchdb'))`, then `{ adapter: 'recension' }`. */
declare const plugin: (PouchDB: any) => void
export = plugin
