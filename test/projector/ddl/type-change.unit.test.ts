/** Every type to every other: how values are carried over, and what that costs. */
import { expect } from 'chai';
import { conversion } from '../../../src/projector/ddl/type-change.js';
import { typeChangeCosts } from '../../../src/projector/ddl/type-change-costs.js';
import { sql } from '../../../src/projector/ddl/sql.js';
import type { ColumnSchema } from '../../../src/schema/model/model.js';
import { typeFromColumn } from '../../../src/schema/normal-form/index.js';
import { column } from '../columns.js';

/** What a small letter stands for. `=`: the assignment does it. */
const WAYS: Record<string, (type: string) => string | null> = {
  '=': () => null,
  s: () => 'c::text',
  c: (type) => `c::${type}`,
  t: (type) => `c::text::${type}`,
  z: () => 'c <> 0',
  i: (type) => `c::integer::${type}`,
  j: (type) => `pg_catalog.to_jsonb(c)::${type}`,
};

/**
 * From the type of the row to that of the column, in the order of the rows: the way, and L where it loses data, R where it
 * rewrites the table, F where it may fail.
 */
// prettier-ignore
const MATRIX: [from: string, to: string][] = [
  ['text', '.  =  =RF =RF cRF  cRF  cRF  cLRF cLRF cLRF cRF cLRF cLRF cLRF cLRF cLRF cRF cRF cRF cRF'],
  ['citext', '=  .  =RF =RF cRF  cRF  cRF  cLRF cLRF cLRF cRF cLRF cLRF cLRF cLRF cLRF cRF cRF cRF cRF'],
  ['character varying(5)', '=  =  .   =R  cRF  cRF  cRF  cLRF cLRF cLRF cRF cLRF cLRF cLRF cLRF cLRF cRF cRF cRF cRF'],
  ['character(5)', '=R =R =R  .   cRF  cRF  cRF  cLRF cLRF cLRF cRF cLRF cLRF cLRF cLRF cLRF cRF cRF cRF cRF'],
  ['smallint', 'sR sR sRF sRF .    cR   cR   cR   cR   cR   zLR tRF  tRF  tRF  tRF  tRF  jR  jR  tRF tRF'],
  ['integer', 'sR sR sRF sRF cRF  .    cR   cLR  cR   cRF  zLR tRF  tRF  tRF  tRF  tRF  jR  jR  tRF tRF'],
  ['bigint', 'sR sR sRF sRF cRF  cRF  .    cLR  cLR  cRF  zLR tRF  tRF  tRF  tRF  tRF  jR  jR  tRF tRF'],
  ['real', 'sR sR sRF sRF cLRF cLRF cLRF .    cR   cLRF zLR tRF  tRF  tRF  tRF  tRF  jR  jR  tRF tRF'],
  ['double precision', 'sR sR sRF sRF cLRF cLRF cLRF cLRF .    cLRF zLR tRF  tRF  tRF  tRF  tRF  jR  jR  tRF tRF'],
  ['numeric(9,3)', 'sR sR sRF sRF cLRF cLRF cLRF cLR  cR   .    zLR tRF  tRF  tRF  tRF  tRF  jR  jR  tRF tRF'],
  ['boolean', 'sR sR sR  sR  iR   iR   iR   iR   iR   iR   .   tRF  tRF  tRF  tRF  tRF  jR  jR  tRF tRF'],
  ['date', 'sR sR sRF sRF tRF  tRF  tRF  tLRF tLRF tLRF tRF .    tLRF tLRF cR   cR   jR  jR  tRF tRF'],
  ['time without time zone', 'sR sR sRF sRF tRF  tRF  tRF  tLRF tLRF tLRF tRF tLRF .    cR   tRF  tRF  jR  jR  tRF tRF'],
  ['time with time zone', 'sR sR sRF sRF tRF  tRF  tRF  tLRF tLRF tLRF tRF tLRF cLR  .    tLRF tLRF jR  jR  tRF tRF'],
  ['timestamp without time zone', 'sR sR sRF sRF tRF  tRF  tRF  tLRF tLRF tLRF tRF cLR  cLR  tLRF .    c    jR  jR  tRF tRF'],
  ['timestamp with time zone', 'sR sR sRF sRF tRF  tRF  tRF  tLRF tLRF tLRF tRF cLR  cLR  cLR  c    .    jR  jR  tRF tRF'],
  ['json', 'sR sR sRF sRF tRF  tRF  tRF  tLRF tLRF tLRF tRF tRF  tRF  tRF  tRF  tRF  .   cRF tRF tRF'],
  ['jsonb', 'sR sR sRF sRF tRF  tRF  tRF  tLRF tLRF tLRF tRF tRF  tRF  tRF  tRF  tRF  cR  .   tRF tRF'],
  ['uuid', 'sR sR sRF sRF tRF  tRF  tRF  tLRF tLRF tLRF tRF tRF  tRF  tRF  tRF  tRF  jR  jR  .   tRF'],
  ['bytea', 'sR sR sRF sRF tRF  tRF  tRF  tLRF tLRF tLRF tRF tRF  tRF  tRF  tRF  tRF  jR  jR  tRF .'],
];

const schemaOf = (written: string): ColumnSchema => {
  const { type, ...schema } = typeFromColumn(written);
  return column('c', type, schema).schema as ColumnSchema;
};

describe('a change of type', () => {
  for (const [from, ways] of MATRIX) {
    it(`from ${from}`, () => {
      const found = MATRIX.map(([to]) => {
        const [old, now] = [schemaOf(from), schemaOf(to)];
        const { loses_data: loses, rewrites_table: rewrites, may_fail: fails } = typeChangeCosts(old, now);
        return [to, conversion(old, now, sql`c`), loses, rewrites, fails];
      });
      const expected = ways.split(/ +/).map((cell, index) => {
        const [to = ''] = MATRIX[index] ?? [];
        const way = to === from ? '=' : (cell[0] ?? '');
        return [to, WAYS[way]?.(to), ...['L', 'R', 'F'].map((letter) => cell.includes(letter))];
      });
      expect(found).to.deep.equal(expected);
    });
  }
});
