import { expect } from 'chai';
import { testServer } from '../support/postgres.js';
import { withService } from '../support/with-service.js';

/** `diamond` has two parents that both inherit from `top`. `two` has two unrelated parents, and keeps its column. */
const TABLES = `
CREATE TABLE top (id int PRIMARY KEY, n int, g int GENERATED ALWAYS AS (n * 2) STORED);
CREATE TABLE left_kid () INHERITS (top);
CREATE TABLE right_kid () INHERITS (top);
CREATE TABLE diamond () INHERITS (left_kid, right_kid);
CREATE TABLE below () INHERITS (diamond);
CREATE TABLE p1 (n int, plain int, g int GENERATED ALWAYS AS (n * 2) STORED);
CREATE TABLE p2 (n int, plain int, g int GENERATED ALWAYS AS (n * 2) STORED);
CREATE TABLE two () INHERITS (p1, p2);
CREATE TABLE below_two () INHERITS (two);
INSERT INTO below VALUES (1, 2); INSERT INTO below_two VALUES (2, 3);`;

interface FieldDocument {
  collection: string;
  field: string;
  type: string;
  schema: { data_type: string; generation_expression: string | null; is_nullable: boolean };
}

const RETYPED = { type: 'bigInteger', schema: { data_type: 'bigint' } };
const TRIPLED = { schema: { generation_expression: 'n * 3' } };
const PLAIN = { schema: { generation_expression: null } };

describe('generated columns and columns of several parents that tables inherit', function () {
  this.timeout(300_000);
  // Rows, catalog and log agree at the end of each test.
  const { api } = withService({ each: true, consistent: true });

  const adopt = async (sql = ''): Promise<void> => {
    await api.sql(TABLES + sql);
    await api.ok('POST', '/schema/adopt', { all: true });
  };
  const snapshot = () => api.ok<{ collections: object[]; fields: FieldDocument[] }>('GET', '/schema/snapshot');
  const columnsNamed = async (name: string): Promise<Record<string, string>> => {
    const { fields } = await snapshot();
    const named = fields.filter(({ field }) => field === name);
    return Object.fromEntries(
      named.map(({ collection, schema: { data_type, generation_expression: expression } }) => [
        collection,
        expression === null ? data_type : `${data_type} ${expression.replaceAll(/[()]/g, '')}`,
      ]),
    );
  };
  const isClean = async (): Promise<void> => {
    const { tables } = await api.ok<{ tables: object[] }>('GET', '/schema/drift');
    expect(JSON.stringify(tables)).to.equal('[]');
  };
  const changed = async (path: string, change: object): Promise<void> => {
    const [before, head] = [await snapshot(), await api.head()];
    await api.ok('PATCH', `/fields/${path}`, change);
    await isClean();
    await api.ok('POST', '/schema/apply', await api.ok<object>('GET', `/history/diff?to=${head}`));
    await isClean();
    expect((await snapshot()).fields).to.have.deep.members(before.fields);
    await api.ok('PATCH', `/fields/${path}`, change);
    await isClean();
  };
  /**
   * The change is rejected when it is requested, planned, and applied as a diff. The diff already contains a warning.
   */
  const rejected = async (path: string, change: object, message: string): Promise<void> => {
    const refusal = { status: 422, code: 'DATABASE_REFUSED' };
    for (const query of ['', '?explain'])
      expect((await api.refused(refusal, 'PATCH', `/fields/${path}${query}`, change)).message).to.equal(message);
    const document = await snapshot();
    const [collection, field] = path.split('/');
    const found = document.fields.find((each) => each.collection === collection && each.field === field);
    const { schema, ...rest } = change as { schema: object };
    Object.assign(found ?? {}, rest, { schema: { ...found?.schema, is_generated: undefined, ...schema } });
    const diff = await api.ok<{ warnings: { code: string; collection: string; field: string; message: string }[] }>(
      'POST',
      '/schema/diff',
      document,
    );
    const reasons = diff.warnings.filter(({ code }) => code === 'INHERITED');
    expect(reasons.map((each) => [each.collection, each.field, each.message])).to.deep.equal([
      [collection, field, message],
    ]);
    const at = 'diff.fields[0].diff[0].rhs';
    expect((await api.refused({ ...refusal, at }, 'POST', '/schema/apply', diff)).message).to.equal(message);
    await isClean();
  };

  it('records a new expression and type in children whose parents all inherit from the table', async () => {
    await adopt();
    await changed('top/g', TRIPLED);
    const others = { p1: 'integer n * 2', p2: 'integer n * 2', two: 'integer n * 2', below_two: 'integer n * 2' };
    const family = (column: string) =>
      Object.fromEntries(['top', 'left_kid', 'right_kid', 'diamond', 'below'].map((name) => [name, column]));
    expect(await columnsNamed('g')).to.deep.equal({ ...others, ...family('integer n * 3') });
    await changed('top/g', RETYPED);
    expect(await columnsNamed('g')).to.deep.equal({ ...others, ...family('bigint n * 3') });
    expect(await api.sql('SELECT g::int FROM below')).to.deep.equal([{ g: 6 }]);
  });

  it('keeps the expression of a child that also inherits the column from another parent, and of its children', async () => {
    await adopt();
    await changed('p1/g', TRIPLED);
    const columns = await columnsNamed('g');
    expect(columns).to.include({ p1: 'integer n * 3', two: 'integer n * 2', below_two: 'integer n * 2' });
  });

  it('rejects a new type for a generated column that a child also inherits from another parent', async () => {
    await adopt();
    await rejected(
      'p1/g',
      RETYPED,
      'The type of column "g" of "p1" cannot be changed: the table two inherits the column from p1 and p2, ' +
        'and PostgreSQL does not change it for one of several parents. Detach the table from the other parents ' +
        '(ALTER TABLE two NO INHERIT …), change the column in all of them, and attach it again.',
    );
  });

  it('keeps the expression of a child that also defines the column, and rejects a new type', async function () {
    // Earlier releases reject such a child.
    if ((await testServer()).majorVersion < 16) this.skip();
    await adopt(`
      CREATE TABLE own (g int GENERATED ALWAYS AS (n * 5) STORED) INHERITS (top);
      CREATE TABLE below_own () INHERITS (own)`);
    await changed('top/g', TRIPLED);
    expect(await columnsNamed('g')).to.include({ own: 'integer n * 5', below_own: 'integer n * 5' });
    await rejected(
      'top/g',
      RETYPED,
      'The type of column "g" of "top" cannot be changed: the table own defines the generated column too, ' +
        'and PostgreSQL keeps its type. Detach the table (ALTER TABLE own NO INHERIT …), change the column in both, ' +
        'and attach it again.',
    );
  });

  it('removes the expression from direct children, including from those with other parents', async () => {
    await adopt('DROP TABLE below_two');
    await api.ok('PATCH', '/fields/p1/g', PLAIN);
    expect(await columnsNamed('g')).to.include({ p1: 'integer', two: 'integer', p2: 'integer n * 2' });
    await isClean();
  });

  it('rejects removing the expression of a column that indirect children inherit', async () => {
    await adopt();
    await rejected(
      'top/g',
      PLAIN,
      'The generation expression of column "g" of "top" cannot be changed: the table diamond inherits the column indirectly, ' +
        'and PostgreSQL removes an expression only from a table and its direct children. ' +
        'Detach the table (ALTER TABLE diamond NO INHERIT …), change the column in both, and attach it again.',
    );
  });

  it('rejects recreating a generated column whose inherited column has a comment', async () => {
    await adopt(`COMMENT ON COLUMN below.g IS 'kept'; COMMENT ON COLUMN two.g IS 'kept'`);
    for (const [path, change] of [
      ['top/g', TRIPLED],
      ['top/n', RETYPED],
    ] as const) {
      const { message } = await api.refused({ status: 409, code: 'IN_USE' }, 'PATCH', `/fields/${path}`, change);
      expect(message).to.contain('comment on column below.g depends on column g');
    }
    await changed('p1/g', TRIPLED);
  });

  for (const [what, change] of [
    ['default', { schema: { default_value: 5 } }],
    ['NOT NULL', { schema: { is_nullable: false } }],
    ['comment', { schema: { comment: 'of p1' } }],
    ['identity', { schema: { is_nullable: false, has_auto_increment: true } }],
  ] as const)
    it(`keeps drift clean when one of two parents changes the ${what} of a column`, async () => {
      await adopt('; UPDATE p1 SET plain = 1');
      await changed('p1/plain', change);
      await api.ok('PATCH', '/fields/p2/plain', change);
      await isClean();
      await api.ok('PATCH', '/fields/p1/plain', {
        schema: { default_value: null, is_nullable: true, comment: null, has_auto_increment: false },
      });
      await isClean();
    });
});
