import { expect } from 'chai';
import { planBatch } from '../../../src/projector/ddl/plan.js';
import type { Statement } from '../../../src/projector/ddl/step.js';
import type { NewEvent } from '../../../src/schema/model/events.js';
import type { Field } from '../../../src/schema/model/model.js';
import { type State, initialState } from '../../../src/schema/model/state.js';
import { added, changed, column, created, deleted, dropped, relationCreated, tableOf, unrelated } from '../columns.js';
import { runToEnd } from '../../../src/kernel/resumable.js';

const after = (...events: NewEvent[]): State => runToEnd(planBatch(initialState(), events, 'public')).after;
const plan = (state: State, ...events: NewEvent[]): Statement[] =>
  runToEnd(planBatch(state, events, 'public')).statements;
const texts = (statements: Statement[]): string[] => statements.map((statement) => statement.sql);

/** Plans the change of one column of an existing table. */
function alter(from: Field, to: Field, ...others: Field[]): Statement[] {
  return plan(after(created('t', [from, ...others])), changed(from, to));
}

const T = '"public"."t"';

describe('a new table', () => {
  const fields = [column('a', 'string', { is_indexed: true, comment: "it's" }), column('b', 'integer')];

  it('is created first, then its comment, indexes and column comments', () => {
    const statements = plan(initialState(), created('t', fields, { comment: 'x' }));
    expect(texts(statements).slice(1)).to.deep.equal([
      `COMMENT ON TABLE ${T} IS 'x'`,
      `CREATE INDEX "t_a_index" ON ${T} ("a")`,
      `COMMENT ON COLUMN ${T}."a" IS 'it''s'`,
    ]);
  });

  it('has no costs, because no other session sees it yet', () => {
    for (const { lock, loses_data, rewrites_table, may_fail } of plan(initialState(), created('t', fields))) {
      expect({ lock, loses_data, rewrites_table, may_fail }).to.deep.equal({
        lock: 'none',
        loses_data: false,
        rewrites_table: false,
        may_fail: false,
      });
    }
  });

  it('defers its indexes until after the commit on request', () => {
    expect(texts(plan(initialState(), created('t', fields, { concurrent: true }))).join()).to.not.contain(
      'CREATE INDEX',
    );
  });

  it('needs no statement for a folder or an alias', () => {
    const folder: NewEvent = { ...created('f'), data: { collection: tableOf('f', null), fields: [] } } as NewEvent;
    expect(plan(initialState(), folder)).to.deep.equal([]);
    expect(plan(after(created('t')), added(column('a', 'alias', null)))).to.deep.equal([]);
    expect(plan(after(folder), deleted('f'))).to.deep.equal([]);
  });

  it('attributes each statement to its event', () => {
    const statements = plan(initialState(), created('t'), added(column('a', 'integer')));
    expect(statements.map(({ source }) => source)).to.deep.equal([
      { event: 0, type: 'collection.created', collection: 't', field: null },
      { event: 1, type: 'field.created', collection: 't', field: 'a' },
    ]);
  });
});

describe('a dropped table', () => {
  it('is dropped with its rows without CASCADE', () => {
    const [drop, ...more] = plan(after(created('t')), deleted('t'));
    expect(more).to.deep.equal([]);
    expect(drop).to.deep.include({ sql: `DROP TABLE IF EXISTS ${T}`, lock: 'ACCESS EXCLUSIVE', loses_data: true });
  });

  it('loses nothing if the same batch created it, and is new if recreated', () => {
    expect(plan(initialState(), created('t'), deleted('t'))[1]).to.include({ loses_data: false, lock: 'none' });
    const [drop, create] = plan(after(created('t')), deleted('t'), created('t'));
    expect(drop).to.include({ loses_data: true });
    expect(create).to.include({ lock: 'none' });
  });
});

describe('a new column', () => {
  const state = after(created('t'));
  const costs = (field: Field) => plan(state, added(field))[0];

  it('is added with its dependent objects in this order: unique, index, comment', () => {
    const field = column('a', 'integer', { is_unique: true, is_indexed: true, comment: 'x', default_value: 5 });
    expect(texts(plan(state, added(field)))).to.deep.equal([
      `ALTER TABLE ${T} ADD COLUMN "a" integer DEFAULT '5'`,
      `ALTER TABLE ${T} ADD CONSTRAINT "t_a_unique" UNIQUE ("a")`,
      `CREATE INDEX "t_a_index" ON ${T} ("a")`,
      `COMMENT ON COLUMN ${T}."a" IS 'x'`,
    ]);
  });

  it('rewrites the table only if each row gets its own value', () => {
    expect(costs(column('a', 'integer', { default_value: 5, is_nullable: false }))).to.include({
      rewrites_table: false,
    });
    expect(costs(column('a', 'timestamp', { default_value: 'now()' }))).to.include({ rewrites_table: false });
    expect(costs(column('a', 'uuid', { default_value: 'gen_random_uuid()' }))).to.include({ rewrites_table: true });
    expect(costs(column('a', 'integer', { generation_expression: 'id + 1' }))).to.include({ rewrites_table: true });
  });

  it('may fail if rows would have no value', () => {
    expect(costs(column('a', 'integer', { is_nullable: false }))).to.include({ may_fail: true });
    expect(costs(column('a', 'integer', { is_nullable: false, default_value: 1 }))).to.include({ may_fail: false });
  });

  it('loses data when it is dropped', () => {
    const field = column('a', 'integer');
    const [drop] = plan(after(created('t', [field])), dropped(field));
    expect(drop).to.include({ sql: `ALTER TABLE IF EXISTS ${T} DROP COLUMN IF EXISTS "a"`, loses_data: true });
  });
});

describe('a changed column', () => {
  it('needs no statement for metadata', () => {
    const field = column('a', 'integer');
    expect(alter(field, { ...field, meta: { ...field.meta, note: 'x' } })).to.deep.equal([]);
  });

  it('drops its default before the type change and sets it afterwards', () => {
    const statements = alter(
      column('a', 'string', { default_value: '1' }),
      column('a', 'integer', { default_value: 1, is_nullable: false }),
    );
    expect(texts(statements)).to.deep.equal([
      `ALTER TABLE ${T} ALTER COLUMN "a" DROP DEFAULT, ALTER COLUMN "a" TYPE integer USING "a"::integer, ` +
        `ALTER COLUMN "a" SET NOT NULL, ALTER COLUMN "a" SET DEFAULT '1'`,
    ]);
    expect(statements[0]?.summary).to.equal('alter column t.a: default, type, nullability');
  });

  it('sets an unchanged default again when the length grows, without a cast', () => {
    const statements = alter(
      column('a', 'string', { max_length: 10, default_value: 'x' }),
      column('a', 'string', { max_length: 20, default_value: 'x' }),
    );
    expect(texts(statements)).to.deep.equal([
      `ALTER TABLE ${T} ALTER COLUMN "a" DROP DEFAULT, ALTER COLUMN "a" TYPE character varying(20), ` +
        `ALTER COLUMN "a" SET DEFAULT 'x'`,
    ]);
    expect(statements[0]).to.include({ rewrites_table: false, may_fail: false, loses_data: false });
  });

  it('drops NOT NULL before the type change', () => {
    const [statement] = alter(column('a', 'integer', { is_nullable: false }), column('a', 'bigInteger'));
    expect(statement?.sql).to.equal(
      `ALTER TABLE ${T} ALTER COLUMN "a" DROP NOT NULL, ALTER COLUMN "a" TYPE bigint USING "a"::bigint`,
    );
  });

  it('may fail when NOT NULL is set on existing rows', () => {
    const [statement] = alter(column('a', 'integer'), column('a', 'integer', { is_nullable: false }));
    expect(statement).to.deep.include({
      sql: `ALTER TABLE ${T} ALTER COLUMN "a" SET NOT NULL`,
      may_fail: true,
      lock: 'ACCESS EXCLUSIVE',
    });
  });

  it('shortens text by assignment, which only truncates trailing blanks', () => {
    const [statement] = alter(column('a', 'text'), column('a', 'string', { max_length: 5 }));
    expect(statement?.sql).to.equal(`ALTER TABLE ${T} ALTER COLUMN "a" TYPE character varying(5)`);
    expect(statement).to.include({ may_fail: true, loses_data: true });
    const [fromNumber] = alter(column('a', 'integer'), column('a', 'string', { max_length: 5 }));
    expect(fromNumber?.sql).to.contain('TYPE character varying(5) USING "a"::text');
  });

  it('drops unique and index before the type change and adds them afterwards', () => {
    const plain = column('a', 'integer');
    const keyed = column('a', 'string', { is_unique: true, is_indexed: true, comment: 'x' });
    const [unique, index, ...rest] = texts(alter(keyed, plain));
    expect(index).to.contain('DROP INDEX "public"."t_a_index"');
    expect([unique, ...rest]).to.deep.equal([
      `ALTER TABLE ${T} DROP CONSTRAINT IF EXISTS "t_a_unique"`,
      `ALTER TABLE ${T} ALTER COLUMN "a" TYPE integer USING "a"::integer`,
      `COMMENT ON COLUMN ${T}."a" IS NULL`,
    ]);
    expect(texts(alter(plain, keyed))).to.deep.equal([
      `ALTER TABLE ${T} ALTER COLUMN "a" TYPE character varying(255) USING "a"::text`,
      `CREATE UNIQUE INDEX "t_a_unique" ON ${T} ("a")`,
      `ALTER TABLE ${T} ADD CONSTRAINT "t_a_unique" UNIQUE USING INDEX "t_a_unique"`,
      `CREATE INDEX "t_a_index" ON ${T} ("a")`,
      `COMMENT ON COLUMN ${T}."a" IS 'x'`,
    ]);
  });

  it('may fail on an index only for values that can be too long', () => {
    const mayFail = (type: string, schema: object = {}): boolean | undefined =>
      alter(column('a', type, schema), column('a', type, { ...schema, is_indexed: true }))[0]?.may_fail;
    expect(mayFail('text')).to.equal(true);
    expect(mayFail('string', { max_length: 1000 })).to.equal(true);
    for (const type of ['string', 'integer', 'decimal', 'timestamp', 'uuid', 'boolean']) {
      expect(mayFail(type), type).to.equal(false);
    }
  });

  it('does not build a deferred index', () => {
    const from = column('a', 'integer');
    const state = after(created('t', [from]));
    const [name, ...rest] = plan(state, changed(from, column('a', 'integer', { is_indexed: true }), true));
    expect(name).to.include({ summary: 'reserve the name of the index on t.a', lock: 'none', may_fail: false });
    expect(rest).to.deep.equal([]);
    const [, ...parts] = plan(state, added(column('b', 'integer', { is_indexed: true }), true));
    expect(parts.map(({ summary }) => summary)).to.deep.equal(['reserve the name of the index on t.b']);
  });

  it('is added or dropped when it changes between column and alias', () => {
    const plain = column('a', 'integer');
    const alias = column('a', 'alias', null);
    expect(texts(alter(alias, plain))).to.deep.equal([`ALTER TABLE ${T} ADD COLUMN "a" integer`]);
    expect(alter(plain, alias)[0]).to.include({
      sql: `ALTER TABLE IF EXISTS ${T} DROP COLUMN IF EXISTS "a"`,
      loses_data: true,
    });
  });
});

describe('identity, old × new', () => {
  const counting = column('a', 'integer', { has_auto_increment: true, is_nullable: false });
  const plain = column('a', 'integer', { is_nullable: false });

  it('no × yes: sets NOT NULL, adds the identity, then advances its sequence past the largest value', () => {
    const statements = alter(column('a', 'string', { default_value: '5' }), counting);
    const [alteration, addition, ...rest] = texts(statements);
    expect([alteration, addition]).to.deep.equal([
      `ALTER TABLE ${T} ALTER COLUMN "a" DROP DEFAULT, ALTER COLUMN "a" TYPE integer USING "a"::integer, ` +
        `ALTER COLUMN "a" SET NOT NULL`,
      `ALTER TABLE ${T} ALTER COLUMN "a" ADD GENERATED BY DEFAULT AS IDENTITY`,
    ]);
    expect(rest).to.have.length(1);
    expect(statements[2]?.summary).to.equal('advance the sequence of t.a past its values');
  });

  it('yes × no: drops it alone, before the type change', () => {
    expect(texts(alter(counting, column('a', 'text', { default_value: 'x' })))).to.deep.equal([
      `ALTER TABLE ${T} ALTER COLUMN "a" DROP IDENTITY IF EXISTS`,
      `ALTER TABLE ${T} ALTER COLUMN "a" DROP NOT NULL, ALTER COLUMN "a" TYPE text USING "a"::text, ` +
        `ALTER COLUMN "a" SET DEFAULT 'x'`,
    ]);
    expect(texts(alter(counting, plain))).to.deep.equal([`ALTER TABLE ${T} ALTER COLUMN "a" DROP IDENTITY IF EXISTS`]);
  });

  it('yes × yes: changes only the type, and the sequence follows', () => {
    const wide = column('a', 'bigInteger', { has_auto_increment: true, is_nullable: false });
    expect(texts(alter(counting, wide))).to.deep.equal([
      `ALTER TABLE ${T} ALTER COLUMN "a" TYPE bigint USING "a"::bigint`,
    ]);
  });
});

describe('a moved primary key', () => {
  const key = (name: string, is_primary_key: boolean): Field =>
    column(name, 'integer', { is_primary_key, is_nullable: false });

  it('is dropped on one column and added on the other', () => {
    const state = after(created('t', [key('a', true), key('b', false)]));
    const statements = plan(state, changed(key('a', true), key('a', false)), changed(key('b', false), key('b', true)));
    expect(texts(statements)).to.deep.equal([
      `ALTER TABLE ${T} DROP CONSTRAINT IF EXISTS "t_pkey"`,
      `ALTER TABLE ${T} ADD CONSTRAINT "t_pkey" PRIMARY KEY ("b")`,
    ]);
  });

  it('leaves a nullable column', () => {
    const state = after(created('t', [key('a', true)]));
    const statements = plan(state, changed(key('a', true), column('a', 'integer')));
    expect(texts(statements)).to.deep.equal([
      `ALTER TABLE ${T} DROP CONSTRAINT IF EXISTS "t_pkey"`,
      `ALTER TABLE ${T} ALTER COLUMN "a" DROP NOT NULL`,
    ]);
  });
});

describe('a foreign key', () => {
  const author = column('author', 'integer');
  const state = after(created('authors'), created('t', [author]));

  it('locks both tables and may fail on rows without a match', () => {
    const [statement, ...more] = plan(state, relationCreated('t.author', 'authors', { on_delete: 'CASCADE' }));
    expect(more).to.deep.equal([]);
    expect(statement).to.deep.include({
      sql:
        `ALTER TABLE ${T} ADD CONSTRAINT "t_author_foreign" FOREIGN KEY ("author") ` +
        `REFERENCES "public"."authors" ("id") ON DELETE CASCADE`,
      lock: 'SHARE ROW EXCLUSIVE',
      may_fail: true,
    });
  });

  it('cannot fail for a new table, but locks the referenced table', () => {
    const statements = plan(state, created('n', [column('author', 'integer')]), relationCreated('n.author', 'authors'));
    expect(statements[1]).to.include({ lock: 'SHARE ROW EXCLUSIVE', may_fail: false });
    const both = plan(
      initialState(),
      created('one'),
      created('n', [column('o', 'integer')]),
      relationCreated('n.o', 'one'),
    );
    expect(both[2]).to.include({ lock: 'none', may_fail: false });
  });

  it('is dropped with its relation, and a relation without one needs nothing', () => {
    const tied = after(created('authors'), created('t', [author]), relationCreated('t.author', 'authors'));
    expect(texts(plan(tied, unrelated('t.author')))).to.deep.equal([
      `ALTER TABLE IF EXISTS ${T} DROP CONSTRAINT IF EXISTS "t_author_foreign"`,
    ]);
    expect(plan(state, relationCreated('t.author', 'authors', null))).to.deep.equal([]);
  });

  it('is renamed for another name and recreated for a different action', () => {
    const tied = after(created('authors'), created('t', [author]), relationCreated('t.author', 'authors'));
    const update = (path: string, value: string): NewEvent => ({
      type: 'relation.updated',
      version: 1,
      collection: 't',
      field: 'author',
      data: { patch: [{ op: 'replace', path, value }] },
    });
    expect(texts(plan(tied, update('/schema/constraint_name', 'fk')))).to.deep.equal([
      `ALTER TABLE ${T} RENAME CONSTRAINT "t_author_foreign" TO "fk"`,
    ]);
    expect(texts(plan(tied, update('/schema/on_delete', 'CASCADE')))).to.deep.equal([
      `ALTER TABLE IF EXISTS ${T} DROP CONSTRAINT IF EXISTS "t_author_foreign"`,
      `ALTER TABLE ${T} ADD CONSTRAINT "t_author_foreign" FOREIGN KEY ("author") ` +
        `REFERENCES "public"."authors" ("id") ON DELETE CASCADE`,
    ]);
    expect(plan(tied, update('/one_deselect_action', 'delete'))).to.deep.equal([]);
  });

  it('is added after both tables if these reference each other', () => {
    const statements = plan(
      initialState(),
      created('a', [column('b', 'integer')]),
      created('b', [column('a', 'integer')]),
      relationCreated('a.b', 'b'),
      relationCreated('b.a', 'a'),
    );
    expect(statements.map(({ summary }) => summary)).to.deep.equal([
      'create table a',
      'create table b',
      'add a foreign key from a.b to b',
      'add a foreign key from b.a to a',
    ]);
  });
});

describe('a table comment', () => {
  it('is set and removed', () => {
    const update: NewEvent = {
      type: 'collection.updated',
      version: 1,
      collection: 't',
      field: null,
      data: { patch: [{ op: 'replace', path: '/schema/comment', value: "it's \\" }] },
    };
    const before = after(created('t'));
    const { statements, after: now } = runToEnd(planBatch(before, [update], 'public'));
    expect(texts(statements)).to.deep.equal([`COMMENT ON TABLE ${T} IS E'it''s \\\\'`]);
    const without: NewEvent = { ...update, data: { patch: [{ op: 'replace', path: '/schema/comment', value: null }] } };
    expect(texts(runToEnd(planBatch(now, [without], 'public')).statements)).to.deep.equal([
      `COMMENT ON TABLE ${T} IS NULL`,
    ]);
  });
});
