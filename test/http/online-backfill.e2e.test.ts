import { expect } from 'chai';
import pg from 'pg';
import { type Online, column, onlineOf, ROWS } from '../support/online.js';
import { withService } from '../support/with-service.js';

describe('an online backfill', () => {
  const { service, api } = withService({ consistent: true });
  let online: Online;
  let table: string;
  let tables = 0;

  before(() => {
    online = onlineOf(api);
  });
  beforeEach(async () => {
    table = `large${++tables}`;
    await online.large(table, [column('status'), column('title')], "title = 'Title ' || i");
  });

  const REQUIRED = { schema: { is_nullable: false } };
  const countWhere = async (condition: string): Promise<number> => {
    const [row] = await api.sql<{ count: number }>(`SELECT count(*)::int AS count FROM ${table} WHERE ${condition}`);
    return row?.count ?? 0;
  };

  it('fills the rows in batches, before and after new rows need a value', async () => {
    const body = { ...REQUIRED, backfill: { expression: 'lower', field: 'title' } };
    const { id, warnings } = await online.open('PATCH', `/fields/${table}/status`, body);
    const change = await online.ended(id, 'applied');
    expect(change.steps.map(({ kind }) => kind)).to.deep.equal(['fill', 'add', 'fill', 'validate']);
    expect(warnings.find(({ message }) => message.includes('fills rows'))?.message).to.match(
      /They keep the value if the change request is withdrawn or fails$/,
    );
    expect(await countWhere("status = lower(title) AND status LIKE 'title %'")).to.equal(ROWS);
    const { data } = await api.ok<{ data: { type: string; data: object }[] }>(
      'GET',
      `/history/events?collection=${table}&order=desc&limit=1`,
    );
    expect(data[0]?.data).to.deep.include({ backfill: body.backfill });
    expect(await online.leftBehind()).to.deep.equal([]);
  });

  it('fills rows that are written without a value in the meantime', async () => {
    const writer = new pg.Client(service.databaseUrl);
    await writer.connect();
    let isWriting = true;
    let written = 0;
    const writing = (async () => {
      while (isWriting) {
        const done = await writer.query(`INSERT INTO ${table} (title) VALUES ('late')`).catch(() => undefined);
        written += done?.rowCount ?? 0;
      }
    })();
    try {
      const { id } = await online.open('PATCH', `/fields/${table}/status`, { ...REQUIRED, backfill: { value: 'new' } });
      await online.ended(id, 'applied');
    } finally {
      isWriting = false;
      await writing;
      await writer.end();
    }
    expect(await countWhere("status = 'new'")).to.equal(ROWS + written);
  });

  it('waits for locked rows while their session writes other rows', async () => {
    const other = new pg.Client(service.databaseUrl);
    await other.connect();
    try {
      await other.query(`BEGIN; UPDATE ${table} SET title = 'locked' WHERE id = ${ROWS}`);
      const { id } = await online.open('PATCH', `/fields/${table}/status`, { ...REQUIRED, backfill: { value: 'new' } });
      await other.query(`UPDATE ${table} SET title = 'locked' WHERE id < 50`);
      await other.query('COMMIT');
      await online.ended(id, 'applied');
    } finally {
      await other.end();
    }
    expect(await countWhere("status = 'new'")).to.equal(ROWS);
    expect(await countWhere("title = 'locked'")).to.equal(50);
  });

  it('fills a field that stays nullable', async () => {
    const body = { meta: { note: 'As paid' }, backfill: { value: 'new' } };
    const { id } = await online.open('PATCH', `/fields/${table}/status`, body);
    const change = await online.ended(id, 'applied');
    expect(change.steps.map(({ kind }) => kind)).to.deep.equal(['fill']);
    expect(await countWhere("status = 'new'")).to.equal(ROWS);
  });

  it('fails if a trigger keeps rows without a value', async () => {
    await api.sql(`CREATE FUNCTION keep_${table}() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN RETURN CASE WHEN OLD.id = 50 THEN OLD ELSE NEW END; END'`);
    await api.sql(`CREATE TRIGGER kept BEFORE UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION keep_${table}()`);
    const body = { meta: { note: 'As paid' }, backfill: { value: 'new' } };
    const { id } = await online.open('PATCH', `/fields/${table}/status`, body);
    const { errors } = await online.ended(id, 'failed');
    expect(errors?.[0]?.message).to.contain('prevented rows from being filled');
    await api.sql(`DROP FUNCTION keep_${table} CASCADE`);
  });

  it('fails if the values violate a constraint, and names none of them', async () => {
    const body = { schema: { is_nullable: false, is_unique: true }, backfill: { value: 'secret value' } };
    const { id } = await online.open('PATCH', `/fields/${table}/status`, body);
    const { errors } = await online.ended(id, 'failed');
    expect(errors?.[0]?.message).to.contain('failed to build the unique');
    expect(JSON.stringify(errors)).not.to.contain('secret value');
  });

  it('is not possible without a primary key, or for a column that the change creates', async () => {
    await api.sql(`CREATE TABLE bare${tables} (wide text, note text)`);
    await api.sql(`INSERT INTO bare${tables} (wide) SELECT repeat('x', 250) FROM generate_series(1, 40000)`);
    await api.ok('POST', '/schema/adopt', { tables: [`bare${tables}`] });
    const without = { ...REQUIRED, backfill: { value: 'x' } };
    const problem = await api.refused(
      { status: 422, code: 'ONLINE_NOT_POSSIBLE' },
      'PATCH',
      `/fields/bare${tables}/note?online`,
      without,
    );
    expect(problem.message).to.contain('no primary key');
    const added = { ...column('slug', 'string', { is_nullable: false }), backfill: { field: 'title' } };
    const rejected = { status: 422, code: 'ONLINE_NOT_POSSIBLE', also: [undefined] };
    await api.refused(rejected, 'POST', `/fields/${table}?online`, added);
  });

  it('adds a column with a value at once', async () => {
    const added = { ...column('state', 'string', { is_nullable: false }), backfill: { value: 'open' } };
    await api.ok('POST', `/fields/${table}?online`, added);
    expect(await countWhere("state = 'open'")).to.equal(ROWS);
  });
});
