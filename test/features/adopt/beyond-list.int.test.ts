import { expect } from 'chai';
import { findDrift } from '../../../src/features/drift/find.js';
import { catalogText } from '../../support/catalog-text.js';
import { adopt, expectVerified, promote, startAdoptFixture } from './round-trip.js';

const BEYOND = `
  CREATE FUNCTION half(integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1 / 2';
  CREATE DOMAIN watched AS integer CHECK (VALUE <> pg_catalog.pg_backend_pid());
  CREATE TABLE t (
    id integer PRIMARY KEY,
    a integer DEFAULT pg_backend_pid(),
    b integer GENERATED ALWAYS AS (half(id)) STORED,
    c integer GENERATED ALWAYS AS (id + 1) STORED,
    d text DEFAULT now()::text,
    e watched,
    CONSTRAINT awake CHECK (pg_backend_pid() > 0),
    CONSTRAINT small CHECK (a < 1000000000)
  );
  CREATE INDEX halves ON t (half(id));
  CREATE INDEX whole ON t (abs(id));
  INSERT INTO t (id) VALUES (8);`;

describe('adopting functions outside the allowed list', () => {
  it('keeps, lists and excludes them from snapshots', async () => {
    const [source, target] = [
      await startAdoptFixture(BEYOND),
      await startAdoptFixture('CREATE DOMAIN watched AS integer'),
    ];
    try {
      const { instance } = source;
      const before = await catalogText(instance.pool);
      const { notRepresented } = await adopt(instance);
      expect(notRepresented.map(({ table, code, name }) => `${table ?? '-'} ${code} ${name}`)).to.have.members([
        't DEFAULT_NOT_REPRESENTED a',
        't GENERATED_COLUMN_NOT_REPRESENTED b',
        't CONSTRAINT_NOT_REPRESENTED awake',
        't INDEX_NOT_REPRESENTED halves',
        't TYPE_NEEDED watched',
        '- FUNCTION_NOT_REPRESENTED half(integer)',
      ]);
      expect(await catalogText(instance.pool)).to.deep.equal(before);
      await expectVerified(instance);
      const drift = await instance.pipeline.underLock((client, { state }) => findDrift(client, state, instance));
      expect(drift.ok, JSON.stringify(drift.tables)).to.equal(true);
      expect((await instance.pool.query('SELECT b, c FROM t')).rows).to.deep.equal([{ b: 4, c: 9 }]);

      await promote(instance, target.instance);
      await expectVerified(target.instance);
      const there = await target.instance.pool.query(
        `SELECT attname::text AS name FROM pg_attribute WHERE attrelid = 't'::regclass AND attgenerated <> ''`,
      );
      expect(there.rows).to.deep.equal([{ name: 'c' }]);
    } finally {
      await source.stop();
      await target.stop();
    }
  });

  it('reports that a snapshot with such a partition key cannot be applied elsewhere', async () => {
    const { instance, stop } = await startAdoptFixture(`
      CREATE FUNCTION half(integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1 / 2';
      CREATE TABLE p (a integer) PARTITION BY RANGE (half(a));
      CREATE TABLE q PARTITION OF p FOR VALUES FROM (MINVALUE) TO (MAXVALUE);`);
    try {
      const { notRepresented } = await adopt(instance);
      const [note] = notRepresented.filter(({ table }) => table === 'p');
      expect(note?.code).to.equal('PARTITION_KEY_NOT_REPRESENTED');
      expect(note?.message).to.include('"half"');
      await expectVerified(instance);
    } finally {
      await stop();
    }
  });
});
