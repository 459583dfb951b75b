import { expect } from 'chai';
import { isStoredDefinition, listFault } from '../../../src/projector/inspect/needs.js';
import { catalogColumn } from '../catalog-tables.js';
import { column } from '../columns.js';
import { converting } from './converting.js';

const KINDS = ['constraint', 'index', 'default', 'generated'] as const;
type Kind = (typeof KINDS)[number];

/** Unsendable and sendable texts. */
const TEXTS: Record<Kind, [string, string]> = {
  constraint: ['CHECK (pg_sleep(a) IS NULL)', 'CHECK ((a > 0))'],
  index: ['USING btree (pg_sleep(a))', 'USING btree (abs(a))'],
  default: ['pg_sleep(1)', '(1 + 1)'],
  generated: ['pg_sleep(a)', '(a + 1)'],
};

const table = { columns: ['a', 'b'].map((name) => catalogColumn(name, 'integer')) };
/** The log stores all of these as definitions, and omits all of those. */
const like = {
  fields: [
    column('other', 'integer'),
    column('said', 'integer', { extras: { default: 'abs(1)' } }),
    column('made', 'integer', { generation_expression: '1 + 1' }),
  ],
  extras: {
    constraints: [
      { name: 'other', definition: 'CHECK ((a > 1))' },
      { name: 'said', definition: 'CHECK ((a > 0))' },
    ],
    indexes: [
      { name: 'other', definition: 'USING btree (a, b)' },
      { name: 'said', definition: 'USING btree (b, a)' },
    ],
    unmanaged: KINDS.map((kind) => ({ kind, name: `left ${kind}` })),
  },
};
const name = (kind: Kind) => (kind === 'generated' ? 'made' : 'said');

describe('SQL that a request could not send', () => {
  for (const kind of KINDS) {
    const [unsendable, sendable] = TEXTS[kind];
    const fault = (source: string, text: string, input = {}) =>
      listFault(converting(table, input), { kind, name: source, text });

    it(`is noted for a ${kind}, unless the log has it`, () => {
      expect(fault('x', sendable)).to.equal(null);
      expect(fault('x', unsendable)).to.match(/pg_sleep/);
      expect(fault('x', sendable, { like })).to.equal(null);
      expect(fault('x', unsendable, { like })).to.match(/pg_sleep/);
      expect(fault(name(kind), unsendable, { like })).to.equal(null);
      expect(fault(`left ${kind}`, sendable, { like })).to.equal('is left out of the log');
      const others = KINDS.filter((other) => other !== kind).map((other) => fault(`left ${other}`, sendable, { like }));
      expect(others).to.deep.equal([null, null, null]);
    });

    it(`is classified for a ${kind}`, () => {
      const messagesOf = (source: string) => isStoredDefinition(converting(table, { like }), kind, source);
      expect([messagesOf(name(kind)), messagesOf('x'), messagesOf(`left ${kind}`)]).to.deep.equal([true, false, false]);
      expect(isStoredDefinition(converting(table), kind, name(kind))).to.equal(false);
      expect(isStoredDefinition(converting(table, { like: {} }), kind, name(kind))).to.equal(false);
    });
  }
});
