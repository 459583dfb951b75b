import { expect } from 'chai';
import { conversionExpression, typeChangeCosts } from '../../../src/projector/ddl/type-change.js';
import { sql } from '../../../src/projector/ddl/sql.js';
import type { ColumnSchema } from '../../../src/schema/model/model.js';
import { typeFromColumn } from '../../../src/schema/normal-form/index.js';
import { column } from '../columns.js';

/** The meaning of the letters. `=`: by assignment. */
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
 * From the row's type to the column's, in row order: the conversion, then L for data loss, R for a rewrite, F for a
 * possible failure.
 */
// prettier-ignore
const MATRIX: [from: string, to: string][] = [
  ['text', '.  =  =LRF =LRF cLRF cLRF cLRF cLRF cLRF cLRF cLRF cLRF cLRF cLRF cLRF cLRF cRF cLRF cLRF cLRF'],
  ['citext', '=  .  =LRF =LRF cLRF cLRF cLRF cLRF cLRF cLRF cLRF cLRF cLRF cLRF cLRF cLRF cRF cLRF cLRF cLRF'],
  ['character varying(5)', '=  =  .    =LR  cLRF cLRF cLRF cLRF cLRF cLRF cLRF cLRF cLRF cLRF cLRF cLRF cRF cLRF cLRF cLRF'],
  ['character(5)', '=R =R =R   .    cLRF cLRF cLRF cLRF cLRF cLRF cLRF cLRF cLRF cLRF cLRF cLRF cRF cLRF cLRF cLRF'],
  ['smallint', 'sR sR sRF  sRF  .    cR   cR   cR   cR   cR   zLR  tLRF tLRF tLRF tLRF tLRF jR  jR   tRF  tLRF'],
  ['integer', 'sR sR sRF  sRF  cRF  .    cR   cLR  cR   cRF  zLR  tLRF tLRF tLRF tLRF tLRF jR  jR   tRF  tLRF'],
  ['bigint', 'sR sR sRF  sRF  cRF  cRF  .    cLR  cLR  cRF  zLR  tLRF tLRF tLRF tLRF tLRF jR  jR   tRF  tLRF'],
  ['real', 'sR sR sRF  sRF  cLRF cLRF cLRF .    cR   cLRF zLR  tLRF tLRF tLRF tLRF tLRF jLR jLR  tRF  tLRF'],
  ['double precision', 'sR sR sRF  sRF  cLRF cLRF cLRF cLRF .    cLRF zLR  tLRF tLRF tLRF tLRF tLRF jLR jLR  tRF  tLRF'],
  ['numeric(9,3)', 'sR sR sRF  sRF  cLRF cLRF cLRF cLR  cR   .    zLR  tLRF tLRF tLRF tLRF tLRF jR  jR   tRF  tLRF'],
  ['boolean', 'sR sR sR   sR   iR   iR   iR   iR   iR   iR   .    tRF  tRF  tRF  tRF  tRF  jR  jR   tRF  tLRF'],
  ['date', 'sR sR sRF  sRF  tRF  tRF  tRF  tRF  tRF  tRF  tRF  .    tLRF tLRF cR   cR   jR  jR   tRF  tLRF'],
  ['time without time zone', 'sR sR sRF  sRF  tRF  tRF  tRF  tRF  tRF  tRF  tRF  tLRF .    cR   tRF  tRF  jR  jR   tRF  tLRF'],
  ['time with time zone', 'sR sR sRF  sRF  tRF  tRF  tRF  tRF  tRF  tRF  tRF  tLRF cLR  .    tLRF tLRF jR  jR   tRF  tLRF'],
  ['timestamp without time zone', 'sR sR sRF  sRF  tRF  tRF  tRF  tRF  tRF  tRF  tRF  cLR  cLR  tLRF .    c    jR  jR   tRF  tLRF'],
  ['timestamp with time zone', 'sR sR sRF  sRF  tRF  tRF  tRF  tRF  tRF  tRF  tRF  cLR  cLR  cLR  c    .    jR  jR   tRF  tLRF'],
  ['json', 'sR sR sLRF sLRF tLRF tLRF tLRF tLRF tLRF tLRF tLRF tLRF tLRF tLRF tLRF tLRF .   cLRF tLRF tLRF'],
  ['jsonb', 'sR sR sRF  sRF  tRF  tRF  tRF  tLRF tLRF tLRF tLRF tLRF tLRF tLRF tLRF tLRF cR  .    tLRF tLRF'],
  ['uuid', 'sR sR sRF  sRF  tRF  tRF  tRF  tRF  tRF  tRF  tRF  tRF  tRF  tRF  tRF  tRF  jR  jR   .    tLRF'],
  ['bytea', 'sR sR sRF  sRF  tRF  tRF  tRF  tRF  tRF  tRF  tRF  tRF  tRF  tRF  tRF  tRF  jR  jR   tRF  .'],
];

const schemaOf = (written: string): ColumnSchema => {
  const { type, ...schema } = typeFromColumn(written);
  return column('c', type, schema).schema as ColumnSchema;
};

describe('a type change', () => {
  for (const [from, ways] of MATRIX) {
    it(`has the expected conversions and findings from ${from}`, () => {
      const matrix = MATRIX.map(([to]) => {
        const [old, now] = [schemaOf(from), schemaOf(to)];
        const { loses_data: loses, rewrites_table: rewrites, may_fail: fails } = typeChangeCosts(old, now);
        return [to, conversionExpression(old, now, sql`c`), loses, rewrites, fails];
      });
      const expected = ways.split(/ +/).map((cell, index) => {
        const [to = ''] = MATRIX[index] ?? [];
        const path = to === from ? '=' : (cell[0] ?? '');
        return [to, WAYS[path]?.(to), ...['L', 'R', 'F'].map((letter) => cell.includes(letter))];
      });
      expect(matrix).to.deep.equal(expected);
    });
  }
});
