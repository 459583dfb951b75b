import { expect } from 'chai';
import { testServer } from '../../support/postgres.js';
import { roundTrip } from './round-trip.js';

const listedOf = async (sql: string): Promise<string[]> => {
  const { adoption } = await roundTrip(sql);
  expect(adoption.refused).to.deep.equal([]);
  return adoption.notRepresented.map(({ code, name, message }) => `${code} ${name}: ${message}`);
};

const LONG = 'a_table_with_quite_a_long_name_that_is_nearly_too_long';
const WIDE = 'é'.repeat(25);

describe('adopting NOT NULL', () => {
  before(async function () {
    if ((await testServer()).majorVersion < 18) this.skip();
  });

  it('keeps the custom names of NOT NULL constraints', async () => {
    const listed = await listedOf(`
      CREATE TABLE t (id integer CONSTRAINT mine NOT NULL PRIMARY KEY, a serial CONSTRAINT "its ""own""" NOT NULL,
        b integer CONSTRAINT by_itself NOT NULL GENERATED ALWAYS AS IDENTITY, c integer, d integer CONSTRAINT t_c_not_null NOT NULL);
      CREATE TABLE crossed (a integer CONSTRAINT crossed_b_not_null NOT NULL, b integer CONSTRAINT crossed_a_not_null NOT NULL);
      CREATE TABLE p (a integer CONSTRAINT pa NOT NULL, b integer) PARTITION BY RANGE (a);
      CREATE TABLE p1 (a integer CONSTRAINT other NOT NULL, b integer CONSTRAINT bb NOT NULL);
      ALTER TABLE p ATTACH PARTITION p1 FOR VALUES FROM (2) TO (3);
      CREATE TABLE p2 PARTITION OF p (CONSTRAINT bbb NOT NULL b) FOR VALUES FROM (3) TO (9) PARTITION BY RANGE (a);
      CREATE TABLE p3 PARTITION OF p2 FOR VALUES FROM (3) TO (4);
      CREATE TABLE p4 (a integer NOT NULL, b integer NOT NULL);
      ALTER TABLE p2 ATTACH PARTITION p4 FOR VALUES FROM (4) TO (5);
      CREATE TABLE p5 (a integer NOT NULL, b integer) PARTITION BY RANGE (a);
      CREATE TABLE p6 PARTITION OF p5 FOR VALUES FROM (4) TO (5);
      CREATE TABLE before (a integer NOT NULL, b integer NOT NULL);
      ALTER TABLE before RENAME TO after;
      ALTER TABLE after RENAME COLUMN b TO c;`);
    expect(listed).to.deep.equal([]);
  });

  it('distinguishes truncated default names from custom ones', async () => {
    const column = 'a_column_with_a_long_name_too';
    const listed = await listedOf(`
      CREATE TABLE ${LONG} (${column} integer CONSTRAINT short NOT NULL, ${column}2 integer NOT NULL,
        ${column}3 integer NOT NULL GENERATED ALWAYS AS IDENTITY);
      CREATE TABLE ${WIDE} (${WIDE} integer CONSTRAINT brief NOT NULL, a${WIDE} integer NOT NULL GENERATED ALWAYS AS IDENTITY);`);
    expect(listed).to.deep.equal([]);
  });

  it('lists what a snapshot leaves out', async () => {
    const listed = await listedOf(`
      CREATE TABLE t (a integer NOT NULL NO INHERIT, b integer CONSTRAINT abc NOT NULL NO INHERIT, c integer);
      ALTER TABLE t ADD CONSTRAINT late NOT NULL c NOT VALID;`);
    const leaves = (name: string, column: string, what: string) =>
      `CONSTRAINT_NOT_REPRESENTED ${name}: constraint "${name}": snapshots contain that "${column}" is NOT NULL, but not that the constraint is ${what}`;
    expect(listed).to.deep.equal([
      leaves('t_a_not_null', 'a', 'NO INHERIT'),
      leaves('abc', 'b', 'NO INHERIT'),
      leaves('late', 'c', 'NOT VALID'),
    ]);
  });
});

describe('adopting constraints that are not enforced, validated or inherited', () => {
  it('keeps NOT VALID and NO INHERIT', async () => {
    const listed = await listedOf(`
      CREATE TABLE t (id integer PRIMARY KEY, p integer, CONSTRAINT c CHECK (id > 0) NO INHERIT);
      ALTER TABLE t ADD CONSTRAINT d CHECK (p > 0) NOT VALID, ADD CONSTRAINT e CHECK (p > 1) NO INHERIT NOT VALID,
        ADD CONSTRAINT f FOREIGN KEY (p) REFERENCES t NOT VALID;
      CREATE TABLE two (a integer, b integer, c integer, d integer, PRIMARY KEY (a, b));
      ALTER TABLE two ADD CONSTRAINT g FOREIGN KEY (c, d) REFERENCES two NOT VALID;
      CREATE TABLE p (a integer) PARTITION BY RANGE (a);
      CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (1) TO (2);
      ALTER TABLE p ADD CONSTRAINT h CHECK (a > 0) NOT VALID;`);
    expect(listed).to.deep.equal([]);
  });

  it('keeps constraints that are NOT ENFORCED in the extras', async function () {
    if ((await testServer()).majorVersion < 18) this.skip();
    const listed = await listedOf(`
      CREATE TABLE alone (id integer PRIMARY KEY);
      CREATE TABLE t (a integer, b integer, c integer, d integer REFERENCES alone NOT ENFORCED, PRIMARY KEY (a, b),
        CONSTRAINT f FOREIGN KEY (c, d) REFERENCES t NOT ENFORCED,
        CONSTRAINT g CHECK (a > 0) NOT ENFORCED, CONSTRAINT h CHECK (a > 1) NO INHERIT NOT ENFORCED);
      CREATE TABLE p (a integer, CONSTRAINT c CHECK (a > 0) NOT ENFORCED) PARTITION BY RANGE (a);
      CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (1) TO (2);`);
    expect(listed).to.deep.equal([]);
  });
});
