import { expect } from 'chai';
import { isUsualDefault } from '../../../src/projector/inspect/column.js';
import type { Json } from '../../../src/kernel/json.js';

type Case = [text: string, type: string, value: Json];

const USUAL: Case[] = [
  ["'x'::text", 'text', 'x'],
  ["'it''s'::character varying", 'character varying(20)', "it's"],
  ["'x'::bpchar", 'character(3)', 'x'],
  ['5', 'integer', 5],
  ['0', 'integer', 0],
  ["'-1'::integer", 'integer', -1],
  ["'5'::smallint", 'smallint', 5],
  ["'5'::bigint", 'bigint', '5'],
  ['1.50', 'numeric(10,2)', '1.50'],
  ["'5'::numeric", 'numeric', '5'],
  ['true', 'boolean', true],
  ['false', 'boolean', false],
  ['now()', 'timestamp with time zone', 'now()'],
  ['CURRENT_DATE', 'date', 'CURRENT_DATE'],
  ["'2026-01-01 00:00:00'::timestamp without time zone", 'timestamp(3) without time zone', '2026-01-01T00:00:00'],
  [`'{"a": 1, "b c": ["d \\" e"]}'::jsonb`, 'jsonb', { a: 1, 'b c': ['d " e'] }],
  ['\'{"a":"it\'\'s"}\'::json', 'json', { a: "it's" }],
];

const OTHER: Case[] = [
  // Values that are cast, of a different type, or spelled differently than in their column.
  ["'x'::character varying", 'text', 'x'],
  ["'x'::character", 'character(3)', 'x'],
  ['5', 'smallint', 5],
  ['5', 'bigint', '5'],
  ['5', 'numeric', '5'],
  ['1.5', 'real', 1.5],
  ['5::integer', 'integer', 5],
  ["'true'::text", 'boolean', true],
  ['true', 'text', 'true'],
  ['false', 'text', 'false'],
  ["'1.0'::numeric", 'numeric', '1'],
  ['\'{ "a":1}\'::json', 'json', { a: 1 }],
  ['\'{"a": 1}\'::jsonb', 'jsonb', { a: 2 }],
  // An explicit NULL.
  ['NULL::text', 'text', null],
  ['null', 'text', null],
];

describe('the default that the service would set', () => {
  for (const [text, type, value] of USUAL) {
    it(`is ${text} for ${type}`, () => {
      expect(isUsualDefault(text, type, value)).to.equal(true);
    });
  }
  for (const [text, type, value] of OTHER) {
    it(`is not ${text} for ${type}`, () => {
      expect(isUsualDefault(text, type, value)).to.equal(false);
    });
  }
});
