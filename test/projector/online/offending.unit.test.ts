import { expect } from 'chai';
import { sql } from '../../../src/projector/ddl/sql.js';
import type { Preparable, Statement } from '../../../src/projector/ddl/step.js';
import { offendingOf } from '../../../src/projector/online/plan.js';
import { initialState } from '../../../src/schema/model/state.js';
import { follow } from '../../support/given.js';
import { column, created, relationCreated } from '../columns.js';

const BEFORE = follow(initialState(), [created('o'), created('t', [column('a', 'integer')])]);
const AFTER = follow(BEFORE, [relationCreated('t.a', 'o')]);

function kindOf(what: Preparable, field: string | null = 'a'): string | null {
  const change = { id: '', before: BEFORE, after: AFTER, events: [], statements: [], schema: 'public' };
  const statement = { source: { event: 0, type: 'field.updated', collection: 't', field } } as unknown as Statement;
  return offendingOf(change, statement, { table: 't', key: 'k', what })?.kind ?? null;
}

describe('rows that violate a preparation', () => {
  const rows: [string, Preparable, string | null][] = [
    ['NOT NULL', { kind: 'not null', column: 'a' }, 'null'],
    ['a key', { kind: 'key', name: 'u', type: 'UNIQUE', definition: sql`("a")`, after: sql`` }, 'repeated'],
    ['a key of more', { kind: 'key', name: 'u', type: 'UNIQUE', definition: sql`("a", "b")`, after: sql`` }, null],
    ['an index', { kind: 'index', name: 'i', unique: true, definition: sql`("a")` }, 'repeated'],
    ['an index of more', { kind: 'index', name: 'i', unique: true, definition: sql`(lower("a"))` }, null],
    ['a foreign key', { kind: 'constraint', name: 'f', references: 'o', definition: sql`FOREIGN KEY` }, 'orphaned'],
    ['a check', { kind: 'constraint', name: 'c', references: null, definition: sql`CHECK (true)` }, null],
    ['a copy', { kind: 'copy', column: { name: 'a', identity: '1.2' }, key: [], position: 7 }, null],
  ];
  for (const [words, what, kind] of rows) {
    it(`are ${kind ?? 'not queried'} for ${words}`, () => {
      expect(kindOf(what)).to.equal(kind);
      expect(kindOf(what, null)).to.equal(null);
    });
  }
});
