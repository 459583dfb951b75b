import { expect } from 'chai';
import { asSuperuser } from '../../support/postgres.js';
import { catalogText } from '../../support/catalog-text.js';
import { adopt, expectVerified, roundTrip, runSql, startAdoptFixture } from './round-trip.js';

/**
 * Adopts and returns the list. The adoption must not change anything.
 * @param asAdministrator statements that the owner may not run
 */
async function listedOf(sql: string, asAdministrator?: string): Promise<string[]> {
  const { instance, database, stop } = await startAdoptFixture(sql);
  try {
    if (asAdministrator !== undefined) await asSuperuser(database.connectionString, asAdministrator);
    const before = await catalogText(instance.pool);
    const { notRepresented, refused } = await adopt(instance);
    expect(refused).to.deep.equal([]);
    expect(await catalogText(instance.pool)).to.deep.equal(before);
    await expectVerified(instance);
    return notRepresented.map(({ table, code, name }) => `${table ?? '-'} ${code} ${name}`);
  } finally {
    await stop();
  }
}

describe('the list of unsupported objects', () => {
  it('names what key definitions leave out', async () => {
    const listed = await listedOf(`
      CREATE TABLE t (a integer CONSTRAINT ta PRIMARY KEY WITH (fillfactor=50), b integer, c integer,
        CONSTRAINT tb UNIQUE (b) WITH (fillfactor=60), CONSTRAINT tbc UNIQUE (b, c) WITH (fillfactor=70));
      CREATE INDEX said ON t (c) WITH (fillfactor=80);`);
    expect(listed).to.deep.equal([
      't INDEX_SETTING_NOT_REPRESENTED ta fillfactor=50',
      't INDEX_SETTING_NOT_REPRESENTED tb fillfactor=60',
      't INDEX_SETTING_NOT_REPRESENTED tbc fillfactor=70',
    ]);
  });

  it('names objects that must already exist', async () => {
    const listed = await listedOf(`
      CREATE COLLATION strict (locale = 'C'); CREATE COLLATION unused (locale = 'C'); CREATE DOMAIN word AS text COLLATE strict;
      CREATE TYPE floats AS RANGE (subtype = float8);
      CREATE FUNCTION half(integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1 / 2';
      CREATE TABLE t (a text COLLATE strict, b word, c floats);
      CREATE TABLE p (a integer) PARTITION BY RANGE (half(a));`);
    expect(listed).to.have.members([
      't TYPE_NEEDED floats',
      'p PARTITION_KEY_NOT_REPRESENTED p',
      '- COLLATION_NOT_REPRESENTED unused',
      '- FUNCTION_NOT_REPRESENTED half(integer)',
    ]);
  });

  it('names domains whose constraints no request may send', async () => {
    const listed = await listedOf(`
      CREATE SEQUENCE q; CREATE TYPE g AS ENUM ('x'); CREATE EXTENSION hstore;
      CREATE FUNCTION odd(integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 % 2 = 1';
      CREATE DOMAIN counted AS bigint DEFAULT nextval('q'); CREATE DOMAIN odds AS integer CHECK (odd(VALUE));
      CREATE DOMAIN spelled AS text DEFAULT ('x'::g)::text; CREATE DOMAIN keyed AS hstore CHECK (VALUE ? 'a');
      CREATE TABLE t (a counted, b odds[], c spelled, d keyed);`);
    expect(listed).to.have.members([
      't TYPE_NEEDED counted',
      't TYPE_NEEDED odds',
      't TYPE_NEEDED spelled',
      '- SEQUENCE_NOT_REPRESENTED q',
      '- TYPE_NOT_REPRESENTED g',
      '- FUNCTION_NOT_REPRESENTED odd(integer)',
    ]);
  });

  it('names objects that depend on tables, sequences and types', async () => {
    const listed = await listedOf(
      `
      CREATE SEQUENCE s; CREATE TYPE e AS ENUM ('a'); CREATE SCHEMA x; CREATE SEQUENCE x.far;
      COMMENT ON SEQUENCE s IS 'x'; COMMENT ON TYPE e IS 'y';
      CREATE TABLE t (id integer PRIMARY KEY DEFAULT nextval('s'), e e, up integer CONSTRAINT upwards REFERENCES t,
        near integer GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME near), far integer DEFAULT nextval('x.far'));
      CREATE TABLE u (id integer DEFAULT nextval('near'));
      ALTER TABLE t FORCE ROW LEVEL SECURITY; CREATE PUBLICATION news FOR TABLE t;`,
      'ALTER TABLE t DISABLE TRIGGER ALL',
    );
    expect(listed).to.have.members([
      't DEFAULT_NOT_REPRESENTED far',
      'u DEFAULT_NOT_REPRESENTED id',
      't DISABLED_CONSTRAINT_NOT_REPRESENTED upwards',
      't ROW_SECURITY_NOT_REPRESENTED forced',
      't PUBLICATION_NOT_REPRESENTED news',
      '- COMMENT_NOT_REPRESENTED sequence s',
      '- COMMENT_NOT_REPRESENTED type e',
    ]);
  });

  it('names standalone sequences, and includes owned ones', async () => {
    const { adoption } = await roundTrip(`
      CREATE SEQUENCE idle; CREATE SEQUENCE kept INCREMENT 3; CREATE SEQUENCE second; CREATE SEQUENCE lent;
      CREATE TABLE t (id integer, at integer DEFAULT nextval('second'));
      ALTER SEQUENCE kept OWNED BY t.id; ALTER SEQUENCE second OWNED BY t.at;
      CREATE TABLE z (id integer); ALTER SEQUENCE lent OWNED BY z.id;
      CREATE TABLE a (id integer DEFAULT nextval('lent'));
      CREATE SEQUENCE b_id_seq; CREATE TABLE c (id integer DEFAULT nextval('b_id_seq'));
      ALTER SEQUENCE b_id_seq OWNED BY c.id;
      CREATE TABLE b (id serial, n integer GENERATED ALWAYS AS IDENTITY);
      ALTER SEQUENCE b_n_seq RENAME TO other; CREATE SEQUENCE b_n_seq; ALTER TABLE c ADD n integer DEFAULT nextval('b_n_seq');
      CREATE SEQUENCE aaa; ALTER SEQUENCE aaa OWNED BY b.n;`);
    expect(adoption.notRepresented.map(({ code, name }) => [code, name])).to.deep.equal([
      ['SEQUENCE_NOT_REPRESENTED', 'idle'],
    ]);
  });

  it('does not name objects of managed tables', async () => {
    const { instance, database, stop } = await startAdoptFixture(
      `CREATE TYPE e AS ENUM ('a'); CREATE SEQUENCE s; CREATE TABLE t (e e, n integer DEFAULT nextval('s'))`,
    );
    try {
      await adopt(instance);
      await runSql(database, 'CREATE TABLE later (id integer)');
      expect((await adopt(instance)).notRepresented).to.deep.equal([]);
    } finally {
      await stop();
    }
  });

  it('includes NOT VALID checks of a domain', async () => {
    const { adoption } = await roundTrip(`
      CREATE DOMAIN d AS integer CHECK (VALUE < 9); ALTER DOMAIN d ADD CONSTRAINT late CHECK (VALUE > 0) NOT VALID;
      CREATE TABLE t (a d)`);
    expect(adoption.notRepresented).to.deep.equal([]);
  });
});
