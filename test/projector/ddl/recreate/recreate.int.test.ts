import { expect } from 'chai';
import fc from 'fast-check';
import { planBatch } from '../../../../src/projector/ddl/plan.js';
import type { SchemaEvent } from '../../../../src/schema/model/events.js';
import { transition } from '../../../../src/schema/transition/transition.js';
import { Draft } from '../../../../src/schema/transition/draft.js';
import { type State, initialState } from '../../../../src/schema/model/state.js';
import type { TableExtras } from '../../../../src/schema/model/extras.js';
import type { Field } from '../../../../src/schema/model/model.js';
import { withExtras } from '../../../../src/schema/transition/cascade.js';
import { defaultPrimaryKey } from '../../../../src/schema/normal-form/index.js';
import { ident } from '../../../../src/projector/ddl/sql.js';
import { column, tableOf } from '../../columns.js';
import { type Projected, startProjected } from '../../../support/projected.js';
import { runToEnd } from '../../../../src/kernel/resumable.js';

const PLAIN = ['a', 'b', 'select', 'a b'];
const GENERATED = ['g', 'h', 'aa'];
const TYPES = ['integer', 'bigInteger', 'text', 'string'];

/** Expressions on a column by its type, with the type of their value. */
function expressionsOn(field: Field): [string, string][] {
  const name = ident(field.field);
  const isNumber = field.type.toLowerCase().endsWith('integer');
  return isNumber
    ? [
        [`${name}+1`, field.type],
        [`(${name} * 2)::text`, 'text'],
      ]
    : [
        [`lower(${name})`, 'text'],
        [`char_length(${name})`, 'integer'],
        [`coalesce(${name}, '7')`, 'text'],
      ];
}

const plain = fc.record({
  name: fc.constantFrom(...PLAIN, ...GENERATED),
  type: fc.constantFrom(...TYPES),
  alias: fc.boolean(),
});
const generated = fc.record({
  name: fc.constantFrom(...GENERATED, 'b'),
  on: fc.nat(10),
  how: fc.nat(10),
  is_unique: fc.boolean(),
  is_indexed: fc.boolean(),
  comment: fc.option(fc.constantFrom('x', "it's"), { nil: null }),
});

/** Dependents of two columns of any kind. */
const part = fc.record({ kind: fc.constantFrom('index', 'partial', 'unique', 'check'), x: fc.nat(10), y: fc.nat(10) });

/** PostgreSQL's spelling, for the comparison. */
const spellName = (name: string): string => (/^(?!select$)[a-z]+$/.test(name) ? name : ident(name));

function extrasOf(columns: readonly string[], parts: readonly { kind: string; x: number; y: number }[]): TableExtras {
  const extras: Required<Pick<TableExtras, 'constraints' | 'indexes'>> = { constraints: [], indexes: [] };
  for (const [index, { kind, x, y }] of parts.entries()) {
    const name = `part${index}`;
    const [one, other] = [x, y].map((each) => spellName(columns[each % columns.length] as string)) as [string, string];
    const pair = [...new Set(['id', one, other])].join(', ');
    if (kind === 'unique') extras.constraints.push({ name, definition: `UNIQUE (${pair})` });
    else if (kind === 'check')
      extras.constraints.push({ name, definition: `CHECK (((${one} IS NULL) OR (${other} IS NOT NULL) OR (id > 0)))` });
    else if (kind === 'index') extras.indexes.push({ name, definition: `USING btree (${one} DESC, ${other})` });
    else extras.indexes.push({ name, definition: `USING btree (${one}) WHERE (${other} IS NOT NULL)` });
  }
  return extras;
}

/** A table whose generated columns use its plain ones, with dependents of both. */
const table: fc.Arbitrary<State> = fc
  .record({
    plain: fc.uniqueArray(plain, { selector: ({ name }) => name, maxLength: 4 }),
    generated: fc.uniqueArray(generated, { selector: ({ name }) => name, maxLength: 3 }),
    extras: fc.array(part, { maxLength: 4 }),
  })
  .map((parts) => {
    const draft = new Draft(initialState());
    const fields = new Map([['id', defaultPrimaryKey('t')]]);
    for (const { name, type, alias } of parts.plain) {
      const isAlias = alias && name === 'b';
      fields.set(name, isAlias ? column(name, 'alias', null) : column(name, type));
    }
    const readable = [...fields.values()].filter(({ schema }) => schema !== null);
    for (const { name, on, how: mode, ...schema } of parts.generated) {
      const others = readable.filter(
        ({ field }) => field !== name && !parts.generated.some((each) => each.name === field),
      );
      const expressions = expressionsOn(others[on % others.length] as Field);
      const [generation_expression, type] = expressions[mode % expressions.length] as [string, string];
      fields.set(name, column(name, type, { ...schema, is_unique: false, generation_expression }));
    }
    const columns = [...fields.values()].filter(({ schema }) => schema !== null).map(({ field }) => field);
    const bare = tableOf('t');
    draft.putCollection({ ...bare, schema: withExtras({ comment: null }, extrasOf(columns, parts.extras)) });
    for (const field of fields.values()) draft.putField(field);
    return draft.toState();
  });

describe('generated columns in a batch', () => {
  let projected: Projected;
  before(async () => {
    projected = await startProjected();
  });
  after(() => projected.stop());

  it('keep rows and consistency through any batch', async () => {
    await projected.become(initialState());
    await fc.assert(
      fc.asyncProperty(table, async (target) => {
        await projected.become(target);
        await projected.expectVerified();
        const settable = [...(target.collections.get('t')?.fields.values() ?? [])].filter(
          ({ field, schema }) => schema !== null && schema.generation_expression === null && field !== 'id',
        );
        const names = settable.map(({ field }) => ident(field)).join(', ');
        const values = settable.map(() => `'7'`).join(', ');
        if (settable.length > 0) await projected.rows(`INSERT INTO t (${names}) VALUES (${values})`);
        const [{ rows } = { rows: 0 }] = await projected.rows('SELECT count(*)::int AS rows FROM t');
        expect(rows).to.be.a('number');
      }),
      { numRuns: Number(process.env['RUNS'] ?? 80), endOnFailure: true },
    );
  });

  it('give the same result when several changes are planned as one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(table, { minLength: 2, maxLength: 4 }), async (targets) => {
        await projected.become(initialState());
        const events: SchemaEvent[] = [];
        let state = projected.state();
        for (const target of targets) {
          const next = runToEnd(transition(state, target, ['t']));
          state = runToEnd(planBatch(state, next, 'public')).after;
          events.push(...next);
        }
        await projected.project(events);
        await projected.expectVerified();
      }),
      { numRuns: Number(process.env['RUNS'] ?? 40), endOnFailure: true },
    );
  });
});
