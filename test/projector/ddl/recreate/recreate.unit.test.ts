import { expect } from 'chai';
import { planBatch } from '../../../../src/projector/ddl/plan.js';
import type { Statement } from '../../../../src/projector/ddl/step.js';
import type { NewEvent } from '../../../../src/schema/model/events.js';
import type { Field } from '../../../../src/schema/model/model.js';
import { type State, initialState } from '../../../../src/schema/model/state.js';
import { added, changed, column, created, dropped, relationCreated } from '../../columns.js';
import { runToEnd } from '../../../../src/kernel/resumable.js';

const after = (...events: NewEvent[]): State => runToEnd(planBatch(initialState(), events, 'public')).after;
const plan = (state: State, ...events: NewEvent[]): Statement[] =>
  runToEnd(planBatch(state, events, 'public')).statements;
/** Without the checks for unmanaged dependents. */
const changing = (statements: Statement[]): Statement[] => statements.filter((each) => !each.sql.startsWith('DO '));
const texts = (statements: Statement[]): string[] => changing(statements).map((statement) => statement.sql);

/** Plans the change of one column of an existing table. */
function alter(from: Field, to: Field, ...others: Field[]): Statement[] {
  return plan(after(created('t', [from, ...others])), changed(from, to));
}

const T = '"public"."t"';

describe('a generated column', () => {
  const a = column('a', 'text');
  const g = (expression: string, type = 'text'): Field => column('g', type, { generation_expression: expression });

  it('is recreated for a different expression without data loss', () => {
    const statements = alter(g('lower(a)'), g('upper(a)'), a);
    expect(texts(statements)).to.deep.equal([
      `ALTER TABLE IF EXISTS ${T} DROP COLUMN IF EXISTS "g"`,
      `ALTER TABLE ${T} ADD COLUMN "g" text GENERATED ALWAYS AS (upper(a)) STORED`,
    ]);
    expect(statements.map((statement) => statement.loses_data)).to.deep.equal([false, false, false]);
    expect(statements[0]!.summary).to.equal('check that no other object depends on g of t');
  });

  it('keeps its values when it becomes plain', () => {
    expect(texts(alter(g('lower(a)'), column('g', 'string'), a))).to.deep.equal([
      `ALTER TABLE ${T} ALTER COLUMN "g" DROP EXPRESSION IF EXISTS`,
      `ALTER TABLE ${T} ALTER COLUMN "g" TYPE character varying(255)`,
    ]);
  });

  it('is recreated with its dependents when an input changes type', () => {
    const generated = { ...g('lower(a)') };
    const indexed = { ...generated, schema: { ...generated.schema!, is_indexed: true, is_unique: true, comment: 'x' } };
    const state = after(created('t', [a, indexed]));
    const statements = plan(state, changed(a, column('a', 'string')));
    expect(texts(statements)).to.deep.equal([
      `ALTER TABLE IF EXISTS ${T} DROP COLUMN IF EXISTS "g"`,
      `ALTER TABLE ${T} ALTER COLUMN "a" TYPE character varying(255)`,
      `ALTER TABLE ${T} ADD COLUMN "g" text GENERATED ALWAYS AS (lower(a)) STORED`,
      `ALTER TABLE ${T} ADD CONSTRAINT "t_g_unique" UNIQUE ("g")`,
      `CREATE INDEX "t_g_index" ON ${T} ("g")`,
      `COMMENT ON COLUMN ${T}."g" IS 'x'`,
    ]);
    expect(changing(statements).map(({ source }) => source.field)).to.deep.equal(['g', 'a', 'g', 'g', 'g', 'g']);
  });

  it('may use a column added later in the batch, and lose one dropped earlier', () => {
    const state = after(created('t', [a, g('lower(a)')]));
    const b = column('b', 'text');
    const statements = plan(state, dropped(a), changed(g('lower(a)'), g('lower(b)')), added(b));
    expect(texts(statements)).to.deep.equal([
      `ALTER TABLE IF EXISTS ${T} DROP COLUMN IF EXISTS "g"`,
      `ALTER TABLE IF EXISTS ${T} DROP COLUMN IF EXISTS "a"`,
      `ALTER TABLE ${T} ADD COLUMN "b" text`,
      `ALTER TABLE ${T} ADD COLUMN "g" text GENERATED ALWAYS AS (lower(b)) STORED`,
    ]);
  });

  it('stays unchanged when something else changes', () => {
    const b = column('b', 'integer');
    const state = after(created('t', [a, b, g('lower(a)')]));
    expect(texts(plan(state, changed(b, column('b', 'bigInteger'))))).to.have.length(1);
  });

  it('keeps its foreign key', () => {
    const one = column('one', 'integer');
    const generated = column('g', 'integer', { generation_expression: 'one + 0' });
    const state = after(created('authors'), created('t', [one, generated]), relationCreated('t.g', 'authors'));
    const now = column('g', 'integer', { generation_expression: 'one + 1' });
    expect(texts(plan(state, changed(generated, now)))).to.deep.equal([
      `ALTER TABLE IF EXISTS ${T} DROP COLUMN IF EXISTS "g"`,
      `ALTER TABLE ${T} ADD COLUMN "g" integer GENERATED ALWAYS AS (one + 1) STORED`,
      `ALTER TABLE ${T} ADD CONSTRAINT "t_g_foreign" FOREIGN KEY ("g") REFERENCES "public"."authors" ("id")`,
    ]);
  });
});
