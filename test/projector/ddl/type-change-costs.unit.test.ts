import { expect } from 'chai';
import { typeChangeCosts } from '../../../src/projector/ddl/type-change.js';
import type { ColumnSchema } from '../../../src/schema/model/model.js';
import { typeFromColumn } from '../../../src/schema/normal-form/index.js';
import { column } from '../columns.js';

const schemaOf = (written: string): ColumnSchema => {
  const { type, ...schema } = typeFromColumn(written);
  return column('c', type, schema).schema as ColumnSchema;
};

/** As letters: loses data, rewrites the table, may fail; `-` otherwise. */
const costs = (from: string, to: string): string => describeCosts(schemaOf(from), schemaOf(to));

function describeCosts(from: ColumnSchema, to: ColumnSchema): string {
  const { loses_data, rewrites_table, may_fail } = typeChangeCosts(from, to);
  return `${loses_data ? 'L' : '-'}${rewrites_table ? 'R' : '-'}${may_fail ? 'F' : '-'}`;
}

/** Both directions of each pair. Reporting a loss that cannot occur is also a fault. */
const PAIRS: [from: string, to: string, there: string, back: string][] = [
  ['smallint', 'integer', '-R-', '-RF'],
  ['integer', 'bigint', '-R-', '-RF'],
  ['integer', 'integer', '---', '---'],
  ['bigint', 'numeric', '-R-', 'LRF'],
  ['integer', 'numeric(10,0)', '-R-', '-RF'],
  ['integer', 'numeric(9,0)', '-RF', '-RF'],
  ['integer', 'numeric(12,2)', '-R-', 'LRF'],
  ['numeric(10,0)', 'numeric(12,0)', '---', '-RF'],
  ['numeric(10,0)', 'numeric(12,2)', '-R-', 'LR-'],
  ['numeric(10,2)', 'numeric', '---', 'LRF'],
  ['smallint', 'real', '-R-', 'LRF'],
  ['integer', 'real', 'LR-', 'LRF'],
  ['integer', 'double precision', '-R-', 'LRF'],
  ['bigint', 'double precision', 'LR-', 'LRF'],
  ['real', 'double precision', '-R-', 'LRF'],
  ['smallint', 'numeric(5,0)', '-R-', '-RF'],
  ['smallint', 'numeric(4,0)', '-RF', '-RF'],
  ['integer', 'numeric', '-R-', 'LRF'],
  ['bigint', 'numeric(19,0)', '-R-', '-RF'],
  ['bigint', 'numeric(18,0)', '-RF', '-RF'],
  ['real', 'numeric', 'LR-', 'LRF'],
  ['real', 'numeric(39,0)', 'LR-', 'LRF'],
  ['real', 'numeric(38,0)', 'LRF', 'LR-'],
  ['double precision', 'numeric(309,0)', 'LR-', 'LRF'],
  ['double precision', 'numeric(308,0)', 'LRF', 'LR-'],
  ['numeric(6,3)', 'real', '-R-', 'LRF'],
  ['numeric(7,3)', 'real', 'LR-', 'LRF'],
  ['numeric(15,3)', 'double precision', '-R-', 'LRF'],
  ['numeric(16,3)', 'double precision', 'LR-', 'LRF'],
  ['numeric', 'double precision', 'LRF', 'LR-'],
  ['smallint', 'boolean', 'LR-', '-R-'],
  ['boolean', 'numeric(1,1)', '-RF', 'LR-'],
  ['boolean', 'numeric(1,0)', '-R-', 'LR-'],
  ['boolean', 'character varying(5)', '-R-', 'LRF'],
  ['boolean', 'character varying(4)', '-RF', 'LRF'],
  ['smallint', 'character varying(6)', '-R-', 'LRF'],
  ['smallint', 'character varying(5)', '-RF', 'LRF'],
  ['integer', 'character varying(11)', '-R-', 'LRF'],
  ['integer', 'character varying(10)', '-RF', 'LRF'],
  ['bigint', 'character varying(20)', '-R-', 'LRF'],
  ['bigint', 'character varying(19)', '-RF', 'LRF'],
  ['uuid', 'character varying(36)', '-R-', 'LRF'],
  ['uuid', 'character varying(35)', '-RF', 'LRF'],
  ['date', 'character varying(13)', '-R-', 'LRF'],
  ['date', 'character varying(12)', '-RF', 'LRF'],
  ['character varying(10)', 'character varying(20)', '---', 'LRF'],
  ['character varying(10)', 'text', '---', 'LRF'],
  ['character varying', 'text', '---', '---'],
  ['character(10)', 'text', '-R-', 'LRF'],
  ['text', 'integer', 'LRF', '-R-'],
  ['text', 'numeric(5,2)', 'LRF', '-R-'],
  ['text', 'json', '-RF', '-R-'],
  ['json', 'jsonb', 'LRF', '-R-'],
  ['integer', 'json', '-R-', 'LRF'],
  ['date', 'timestamp with time zone', '-R-', 'LR-'],
  ['date', 'time without time zone', 'LRF', 'LRF'],
  ['time without time zone', 'timestamp without time zone', '-RF', 'LR-'],
  ['timestamp with time zone', 'timestamp without time zone', '---', '---'],
  ['geometry(Point,4326)', 'geometry', '-RF', '-RF'],
];

/** Times by fractional digits; PostgreSQL keeps six by default. */
const TIMES: [
  from: [type: string, digits?: number],
  to: [type: string, digits?: number],
  there: string,
  back: string,
][] = [
  [['time', 3], ['time', 4], '---', 'LR-'],
  [['time', 6], ['time'], '---', '---'],
  [['time', 5], ['time'], '---', 'LR-'],
  [['timestamp', 3], ['timestamp', 3], '---', '---'],
  [['timestamp', 3], ['dateTime'], '---', 'LR-'],
  [['timestamp', 3], ['dateTime', 3], '-R-', '-R-'],
  [['date'], ['dateTime', 0], '-R-', 'LR-'],
  [['dateTime', 3], ['time', 3], 'LR-', '-RF'],
  [['dateTime', 3], ['date'], 'LR-', '-R-'],
];

const timeOf = ([type, precision]: [type: string, digits?: number]): ColumnSchema =>
  column('c', type, precision === undefined ? {} : { extras: { precision } }).schema as ColumnSchema;

describe('the announced costs of a type change', () => {
  for (const [from, to, there, back] of PAIRS) {
    it(`are known for ${from} to ${to}, and back`, () => {
      expect({ there: costs(from, to), back: costs(to, from) }).to.deep.equal({ there, back });
    });
  }

  for (const [from, to, there, back] of TIMES) {
    it(`are known for ${from.join(' ')} to ${to.join(' ')}, and back`, () => {
      const [old, now] = [timeOf(from), timeOf(to)];
      expect({ there: describeCosts(old, now), back: describeCosts(now, old) }).to.deep.equal({ there, back });
    });
  }
});
