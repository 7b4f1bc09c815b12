// A typed program that the compiler has to accept, and two lines that it has to refuse.
import { open, RecensionError, type Change, type Read } from '../index.js'

export async function program(): Promise<string[]> {
  const db = await open('memory:', { share: false })
  const notes = db.collection('notes')
  const rev: string = await notes.put('a', { text: 'hello', n: 1 })
  const note: Read | undefined = await notes.get('a', { at: new Date() })
  const seen: string[] = []
  for await (const found of notes.find({ n: { $gt: 0 } }, { sort: [['n', 'desc']], limit: 3 })) seen.push(found._id)
  for await (const change of db.changes({ since: 0 })) seen.push((change satisfies Change).id)
  const count: number = await db.transaction(async (tx) => tx.collection('notes').count())
  for (const written of await notes.putMany([{ _id: 'b' }])) {
    if ('error' in written) throw written.error satisfies RecensionError
    seen.push(written.rev)
  }
  for await (const row of notes.aggregate([{ $count: 'n' }])) seen.push(row.n)
  const rows: any[] = await notes.aggregate([{ $count: 'n' }])
  seen.push(String(rows.length))
  const idea = await db.branch('idea', { at: '1h' })
  for await (const { id, before } of db.diff(idea)) seen.push(id, before?._rev ?? '')
  const { taken, conflicts } = await db.merge('idea', { conflicts: 'abort', dryRun: true })
  seen.push(String(taken), ...conflicts.map((conflict) => conflict.id))
  // @ts-expect-error there are four ways
  await db.merge('idea', { conflicts: 'mine' })
  // @ts-expect-error a document is an object
  await notes.put('a', 'text')
  // @ts-expect-error an id is a string
  await notes.get(7)
  await db.close()
  return [...seen, rev, String(count), note?._rev ?? '']
}
