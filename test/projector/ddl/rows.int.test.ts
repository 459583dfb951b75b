import { expect } from 'chai';
import { planBatch } from '../../../src/projector/ddl/plan.js';
import type { NewEvent } from '../../../src/schema/model/events.js';
import type { Field } from '../../../src/schema/model/model.js';
import { added, changed, column, created, deleted, dropped, relationCreated, unrelated } from '../columns.js';
import { type Projected, startProjected } from '../../support/projected.js';
import { runToEnd } from '../../../src/kernel/resumable.js';

const HOSTILE = ['a b', "it's", '"', 'a"b', '$$', '%I', 'select', '__proto__', 'back\\slash', 'é'.repeat(31)];

describe('changes to tables with rows', () => {
  let projected: Projected;
  beforeEach(async () => {
    projected = await startProjected();
  });
  afterEach(() => projected.stop());

  const given = (...events: NewEvent[]) => projected.project(events);

  async function rejectionOf(...events: NewEvent[]): Promise<string | undefined> {
    try {
      await projected.project(events);
      return undefined;
    } catch (error) {
      return ((error as Error).cause as { code?: string }).code;
    }
  }

  it('convert values to the new type', async () => {
    const text = column('a', 'text');
    await given(created('t', [text]));
    await projected.rows(`INSERT INTO t (a) VALUES ('12'), ('-3'), (NULL)`);
    const number = column('a', 'integer', { default_value: 7 });
    await given(changed(text, number));
    await given(changed(number, column('a', 'boolean', { default_value: false })));
    expect(await projected.rows('SELECT a FROM t ORDER BY id')).to.deep.equal([{ a: true }, { a: true }, { a: null }]);
    await projected.expectVerified();
  });

  it('reject the whole batch if a value does not convert', async () => {
    const text = column('a', 'text');
    await given(created('t', [text]));
    await projected.rows(`INSERT INTO t (a) VALUES ('many')`);
    expect(await rejectionOf(added(column('b', 'integer')), changed(text, column('a', 'integer')))).to.equal('22P02');
    expect(await rejectionOf(changed(text, column('a', 'string', { max_length: 3 })))).to.equal('22001');
    expect(await projected.rows('SELECT a FROM t')).to.deep.equal([{ a: 'many' }]);
    await projected.expectVerified();
  });

  it('continue a new auto increment after the largest value', async () => {
    const plain = column('n', 'integer', { is_nullable: false });
    const counting = column('n', 'integer', { is_nullable: false, has_auto_increment: true });
    await given(created('t', [plain, column('note', 'text')]));
    await projected.rows(`INSERT INTO t (n) VALUES (41), (-5)`);
    await given(changed(plain, counting));
    await projected.rows(`INSERT INTO t (note) VALUES ('x')`);
    expect(await projected.rows('SELECT n FROM t ORDER BY id')).to.deep.equal([{ n: 41 }, { n: -5 }, { n: 42 }]);
    await projected.expectVerified();
  });

  it("start auto increment at 1 without positive values, and stop at the type's maximum", async () => {
    const plain = column('n', 'integer', { data_type: 'smallint', is_nullable: false });
    const counting = column('n', 'integer', { data_type: 'smallint', is_nullable: false, has_auto_increment: true });
    for (const [table, value, next] of [
      ['empty', null, 1],
      ['below', -7, 1],
      ['at_end', 32767, null],
    ] as const) {
      const named = (field: Field): Field => ({ ...field, collection: table });
      await given(created(table, [named(plain), column(`${table}.note`, 'text')]));
      if (value !== null) await projected.rows(`INSERT INTO ${table} (n) VALUES (${value})`);
      await given(changed(named(plain), named(counting)));
      const insert = projected.rows(`INSERT INTO ${table} (note) VALUES ('x') RETURNING n`);
      if (next === null) expect(await insert.catch((error: { code: string }) => error)).to.include({ code: '2200H' });
      else expect(await insert).to.deep.equal([{ n: next }]);
    }
    await projected.expectVerified();
  });

  it("keep an identity's value when its type grows", async () => {
    const small = column('n', 'integer', { is_nullable: false, has_auto_increment: true });
    const big = column('n', 'bigInteger', { is_nullable: false, has_auto_increment: true });
    await given(created('t', [small, column('note', 'text')]));
    await projected.rows(`INSERT INTO t (note) VALUES ('x'), ('y')`);
    await given(changed(small, big));
    await projected.rows(`SELECT setval(pg_get_serial_sequence('t', 'n'), 4000000000)`);
    expect(await projected.rows(`INSERT INTO t (note) VALUES ('z') RETURNING n::text`)).to.deep.equal([
      { n: '4000000001' },
    ]);
    await projected.expectVerified();
  });

  it('reject NOT NULL and unique if rows violate them', async () => {
    const plain = column('a', 'integer');
    await given(created('t', [plain]));
    await projected.rows('INSERT INTO t (a) VALUES (1), (1), (NULL)');
    expect(await rejectionOf(changed(plain, column('a', 'integer', { is_nullable: false })))).to.equal('23502');
    expect(await rejectionOf(changed(plain, column('a', 'integer', { is_unique: true })))).to.equal('23505');
    expect(await rejectionOf(added(column('b', 'integer', { is_nullable: false })))).to.equal('23502');
    await given(added(column('b', 'integer', { is_nullable: false, default_value: 3 })));
    expect(await projected.rows('SELECT DISTINCT b FROM t')).to.deep.equal([{ b: 3 }]);
    await projected.expectVerified();
  });

  it('reject a foreign key if rows have no match', async () => {
    await given(created('authors'), created('t', [column('author', 'integer')]));
    await projected.rows('INSERT INTO t (author) VALUES (1)');
    expect(await rejectionOf(relationCreated('t.author', 'authors'))).to.equal('23503');
    await projected.rows('INSERT INTO authors DEFAULT VALUES');
    await given(relationCreated('t.author', 'authors'));
    await projected.expectVerified();
  });

  it('recreate a generated column when its input changes', async () => {
    const a = column('a', 'text');
    const g = column('g', 'text', { generation_expression: `a || '!'`, is_indexed: true });
    await given(created('t', [a, g]));
    await projected.rows(`INSERT INTO t (a) VALUES ('5')`);
    await given(changed(a, column('a', 'string', { max_length: 9 })));
    expect(await projected.rows('SELECT g FROM t')).to.deep.equal([{ g: '5!' }]);
    const number = column('g', 'integer', { generation_expression: 'a + 1' });
    await given(changed(column('a', 'string', { max_length: 9 }), column('a', 'integer')), changed(g, number));
    expect(await projected.rows('SELECT g FROM t')).to.deep.equal([{ g: 6 }]);
    await projected.expectVerified();
  });

  it('support every name that can be quoted', async () => {
    const named = (field: Field, name: string): Field => ({ ...field, collection: name, field: name });
    for (const [index, name] of HOSTILE.entries()) {
      const plain = named(column('a', 'string', { default_value: name, comment: name, is_indexed: true }), name);
      const keyed = named(column('a', 'text', { is_unique: true, comment: null }), name);
      await given(created(name, [plain], { comment: name }), created(`${index}~2`, [column('r', 'integer')]));
      await projected.rows(`INSERT INTO "${name.replaceAll('"', '""')}" DEFAULT VALUES`);
      await given(relationCreated(`${index}~2.r`, name));
      await projected.expectVerified();
      await given(changed(plain, keyed));
      await projected.expectVerified();
      await given(unrelated(`${index}~2.r`), dropped(keyed));
      await projected.expectVerified();
    }
  });

  it('work in schemas other than public', async () => {
    const other = await startProjected('Other schema');
    try {
      await other.project([created('t', [column('a', 'integer', { is_indexed: true, is_unique: true })])]);
      const counting = column('a', 'integer', { has_auto_increment: true, is_nullable: false, is_unique: true });
      await other.project([changed(column('a', 'integer', { is_indexed: true, is_unique: true }), counting)]);
      await other.expectVerified();
      expect(await other.rows(`SELECT schemaname FROM pg_tables WHERE tablename = 't'`)).to.deep.equal([
        { schemaname: 'Other schema' },
      ]);
    } finally {
      await other.stop();
    }
  });

  it('hold no more locks than the plan announces', async () => {
    const indexed = Array.from({ length: 12 }, (_, at) =>
      column(`i${at}`, 'integer', { is_indexed: true, is_unique: at % 2 === 0 }),
    );
    const n = column('n', 'integer');
    const events = [
      created('authors', [column('name', 'string', { is_unique: true, is_indexed: true })], { comment: 'x' }),
      created('t', [column('a', 'text', { comment: 'x' }), column('author', 'integer'), n]),
      relationCreated('t.author', 'authors'),
      created('wide', [column('wide.n', 'integer'), ...indexed]),
    ];
    const expectAnnounced = async (batch: NewEvent[]): Promise<void> => {
      const { statements } = runToEnd(planBatch(projected.state(), batch, projected.schema));
      await projected.client.query('BEGIN');
      for (const { sql } of statements) await projected.client.query(sql);
      const { rows } = await projected.client.query<{ held: number }>(
        `SELECT count(DISTINCT (locktype, relation, classid, objid, objsubid))::int AS held
         FROM pg_locks WHERE pid = pg_backend_pid() AND relation IS DISTINCT FROM 'pg_locks'::regclass
           AND locktype IN ('relation', 'object')`,
      );
      await projected.client.query('ROLLBACK');
      const announced = statements.reduce((sum, { lock_entries }) => sum + lock_entries, 0);
      expect(rows[0]?.held, statements.map(({ summary }) => summary).join()).to.be.at.most(announced);
    };
    const kept = <T extends NewEvent>(event: T): T => ({
      ...event,
      data: { ...event.data, kept_until: '2036-12-01T00:00:00.000Z' },
    });
    await expectAnnounced(events);
    await given(...events);
    const counting = column('n', 'integer', { has_auto_increment: true, is_nullable: false });
    const wide = { ...n, collection: 'wide' };
    await expectAnnounced([changed(n, column('n', 'text', { is_unique: true, is_indexed: true }))]);
    await expectAnnounced([changed(n, counting)]);
    await expectAnnounced([changed(wide, { ...counting, collection: 'wide' })]);
    await expectAnnounced([added(column('m', 'text', { is_unique: true }))]);
    await expectAnnounced([dropped(n)]);
    await expectAnnounced([kept(dropped(n))]);
    await expectAnnounced([kept(dropped(wide))]);
    await expectAnnounced([unrelated('t.author'), deleted('t')]);
    await expectAnnounced([deleted('wide')]);
    await expectAnnounced([kept(deleted('wide'))]);
    const identity = projected.state().collections.get('wide')?.identities.fields.get('n') ?? '';
    await given(kept(dropped(wide)));
    const { position } = projected.state();
    await expectAnnounced([{ ...added(wide), data: { field: wide, restored: { position, identity } } } as NewEvent]);
  });
});
