import { expect } from 'chai';
import pg from 'pg';
import { json } from '../../support/client.js';
import { withService } from '../../support/with-service.js';

interface Plan {
  warnings?: { code: string; collection: string; field: string; message: string; level: string }[];
}

const column = (field: string, type: string, schema: object = {}) => ({ field, type, interface: 'input', schema });
const REQUIRED = { is_nullable: false };

describe('rows that block a revert', () => {
  const { api, client, service } = withService({ each: true, consistent: true });

  const make = (collection: string, fields: object[]) =>
    api.ok('POST', '/collections', { collection, schema: {}, fields });
  const back = async (to: number): Promise<{ diff: Plan; told: string[] }> => {
    const diff = await api.ok<Plan>('GET', `/history/diff?to=${to}`);
    const warnings = (diff.warnings ?? []).filter(({ code }) => code === 'ROWS_IN_THE_WAY');
    for (const { level } of warnings) expect(level).to.equal('warn');
    return { diff, told: warnings.map(({ message }) => message) };
  };
  const refusedBy = async (diff: Plan): Promise<void> => {
    const plan = await api.ok<Plan & { accepted: boolean }>('POST', '/schema/apply?dry_run', diff);
    expect(plan.accepted).to.equal(false);
    expect((plan.warnings ?? []).map(({ code }) => code)).to.include('ROWS_IN_THE_WAY');
    const { status } = await client('/schema/apply', json(diff));
    expect(status).to.equal(422);
  };

  it('are counted for missing values, in the column and the kept copy', async () => {
    await make('t', [
      column('a', 'string', REQUIRED),
      column('b', 'string', REQUIRED),
      column('c', 'string', REQUIRED),
      column('d', 'string', { ...REQUIRED, default_value: 'x' }),
    ]);
    await api.sql(`INSERT INTO t (a, b, c) VALUES ('1', '1', '1'), ('2', '2', '2')`);
    const then = await api.head();
    await api.ok('PATCH', '/fields/t/a', { schema: { is_nullable: true } });
    await api.ok('POST', '/fields/t/a/rename', { to: 'z' });
    await api.ok('DELETE', '/fields/t/b');
    await api.ok('DELETE', '/fields/t/c?purge');
    await api.ok('DELETE', '/fields/t/d?purge');
    await api.ok('POST', '/collections/t/rename', { to: 'u' });
    await api.sql(`INSERT INTO u (z) VALUES (NULL), (NULL), ('3')`);
    const { diff, told: reported } = await back(then);
    const rest = 'no value for it, so it cannot be NOT NULL';
    expect(reported).to.have.members([
      `t.a: 2 rows have ${rest}`,
      `t.b: 3 rows have ${rest}`,
      `t.c: 5 rows have ${rest}`,
    ]);
    await refusedBy(diff);
    await api.sql(`UPDATE u SET z = 'set' WHERE z IS NULL; DELETE FROM u WHERE id > 2`);
    expect((await back(then)).told).to.deep.equal([`t.c: 2 rows have ${rest}`]);
  });

  it('are counted for missing references, from and to restored objects', async () => {
    await make('authors', [column('name', 'string')]);
    await make('shops', [column('name', 'string')]);
    await make('books', [column('author', 'integer'), column('shop', 'integer'), column('owner', 'uuid')]);
    for (const [field, one] of [
      ['author', 'authors'],
      ['shop', 'shops'],
      ['owner', 'service_users'],
    ] as const)
      await api.ok('POST', '/relations', { many_collection: 'books', many_field: field, one_collection: one });
    await api.sql(`INSERT INTO authors DEFAULT VALUES; INSERT INTO authors DEFAULT VALUES; INSERT INTO shops DEFAULT VALUES;
      INSERT INTO books (author, shop) VALUES (1, 1), (2, 1), (2, NULL)`);
    const then = await api.head();
    await api.ok('DELETE', '/relations/books/owner');
    await api.ok('DELETE', '/fields/books/author');
    await api.ok('DELETE', '/collections/shops?purge');
    await api.sql(`DELETE FROM authors WHERE id = 2; UPDATE books SET owner = gen_random_uuid() WHERE id = 1`);
    const { diff, told: reported } = await back(then);
    const [author, shop, owner] = [
      'books.author: 2 rows have no referenced row in authors',
      'books.shop: 2 rows have no referenced row in shops',
      'books.owner: 1 row has no referenced row in service_users',
    ];
    expect(reported).to.have.members([author, shop, owner]);
    await refusedBy(diff);
    // In the trash itself.
    await api.ok('DELETE', '/collections/books');
    expect((await back(then)).told).to.have.members([author, shop, owner]);
    await api.ok('DELETE', '/collections/authors');
    expect((await back(then)).told).to.have.members([author, shop, owner]);
  });

  it('are counted up to a limit, and otherwise only named by kind', async () => {
    await make('t', [column('a', 'string', REQUIRED)]);
    const then = await api.head();
    await api.ok('PATCH', '/fields/t/a', { schema: { is_nullable: true } });
    expect((await back(then)).told).to.deep.equal([]);
    await api.sql('INSERT INTO t (a) SELECT NULL FROM generate_series(1, 5000)');
    expect((await back(then)).told).to.deep.equal([
      't.a: more than 1,000 rows have no value for it, so it cannot be NOT NULL',
    ]);
    // For another point in time, rows are not counted.
    await api.ok('PATCH', '/collections/t', { meta: { note: 'later' } });
    const between = await api.ok<Plan>('GET', `/history/diff?from=${then + 1}&to=${then}`);
    expect((between.warnings ?? []).map(({ code }) => code)).not.to.include('ROWS_IN_THE_WAY');
  });

  it('are not counted while a session has locked the table', async () => {
    await make('t', [column('a', 'string', REQUIRED), column('b', 'string')]);
    await api.sql(`INSERT INTO t (a, b) VALUES ('1', '1')`);
    const then = await api.head();
    await api.ok('PATCH', '/fields/t/a', { schema: { is_nullable: true } });
    await api.ok('DELETE', '/fields/t/b');
    await api.sql('UPDATE t SET a = NULL');
    const holder = new pg.Client({ connectionString: service.databaseUrl });
    await holder.connect();
    try {
      await holder.query('BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE');
      const { diff, told: reported } = await back(then);
      expect(reported).to.deep.equal([]);
      const messages = (diff.warnings ?? []).map(({ message }) => message).join('\n');
      expect(messages).to.match(/restore column b of t from the trash \(position \d+\)$/m);
    } finally {
      await holder.end();
    }
    const { diff, told: reported } = await back(then);
    expect(reported).to.have.length(1);
    expect((diff.warnings ?? []).map(({ message }) => message).join('\n')).to.contain(': 1 value is restored');
  });
});
