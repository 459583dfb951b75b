/** Adopted tables that are deleted again, and the log of it replayed into an empty database. */
import { expect } from 'chai';
import { replayInto } from '../../src/cli/replay.js';
import { readRecordPages } from '../../src/log/read.js';
import { CAUSE, type Instance, command, done } from '../pipeline/instance.js';
import { createDatabase } from '../support/postgres.js';
import { adopt, expectVerified, startBench } from './round-trip.js';

async function remove({ pipeline }: Instance, collection: string): Promise<void> {
  const deletion = command('delete-collection', { collection });
  done(await pipeline.execute('delete-collection', deletion, { cause: { ...CAUSE, command: 'delete-collection' } }));
}

async function expectReplayed({ pool }: Instance): Promise<void> {
  for (const tables of ['every-event', 'end-state'] as const) {
    const target = await createDatabase();
    try {
      const pages = readRecordPages(pool, { after: 0 });
      const { connectionString } = target;
      const { verification } = await replayInto({ connectionString, schema: 'public', pages, tables });
      expect(verification.differences, tables).to.deep.equal([]);
    } finally {
      await target.drop();
    }
  }
}

/** Adopts all of it and then deletes; what is left must be what the log says, here and elsewhere. */
async function expectDeletable(sql: string, ...collections: string[]): Promise<void> {
  const { instance, stop } = await startBench(sql);
  try {
    await adopt(instance);
    for (const collection of collections) {
      await remove(instance, collection);
      await expectVerified(instance);
    }
    await expectReplayed(instance);
  } finally {
    await stop();
  }
}

describe('deleting what was adopted', function () {
  this.timeout(60_000);

  const PAIR = `
    CREATE TABLE p (a integer, b integer, PRIMARY KEY (a, b));
    CREATE TABLE q (id integer PRIMARY KEY, a integer, b integer, FOREIGN KEY (a, b) REFERENCES p);`;
  const filler = (prefix: string) =>
    Array.from({ length: 60 }, (_, n) => `CREATE TABLE ${prefix}${n} (id integer PRIMARY KEY);`).join('\n');

  for (const [title, sql] of [
    ['', PAIR],
    [', apart in the log', PAIR + filler('pf')],
    [', the key before its target', PAIR.replaceAll(' p ', ' z ').replace('REFERENCES p', 'REFERENCES z')],
    [', far before its target', PAIR.replaceAll(' p ', ' z ').replace('REFERENCES p', 'REFERENCES z') + filler('x')],
  ] as const) {
    const target = sql.includes('TABLE z ') ? 'z' : 'p';
    it(`the holder of a foreign key of two columns is replayed${title}`, () => expectDeletable(sql, 'q', target));
    it(`the target of a foreign key of two columns is replayed${title}`, () => expectDeletable(sql, target, 'q'));
  }

  it('a circle of such keys is replayed', () =>
    expectDeletable(
      `${PAIR} ALTER TABLE p ADD FOREIGN KEY (a, b) REFERENCES p, ADD c integer, ADD d integer;
      CREATE TABLE r (a integer, b integer, PRIMARY KEY (a, b), FOREIGN KEY (a, b) REFERENCES p);
      ALTER TABLE p ADD FOREIGN KEY (c, d) REFERENCES r;`,
      'r',
      'p',
      'q',
    ));
});
