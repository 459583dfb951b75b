import { expect } from 'chai';
import pg from 'pg';
import { ExchangeError } from '../../../src/postgres/errors.js';
import { runScript } from '../../../src/postgres/exchange.js';
import { planBatch } from '../../../src/projector/ddl/plan.js';
import { ddlFailure } from '../../../src/projector/refusals/ddl-failure.js';
import type { NewEvent } from '../../../src/schema/model/events.js';
import type { Problem } from '../../../src/kernel/problem.js';
import { added, changed, column, created } from '../columns.js';
import { type Projected, startProjected } from '../../support/projected.js';
import { runToEnd } from '../../../src/kernel/resumable.js';

describe('PostgreSQL errors', () => {
  let projected: Projected;
  before(async () => {
    projected = await startProjected();
    await projected.project([created('t', [column('a', 'text')])]);
    await projected.rows(`INSERT INTO t (a) VALUES ('x'), ('x')`);
  });
  after(() => projected.stop());

  async function failure(events: NewEvent[], setUp = ''): Promise<Problem> {
    const { statements } = runToEnd(planBatch(projected.state(), events, projected.schema));
    const client = await projected.pool.connect();
    try {
      await client.query(`BEGIN; ${setUp}`);
      await runScript(
        client,
        statements.map(({ sql }) => sql),
      );
      throw new Error('accepted');
    } catch (error) {
      if (!(error instanceof ExchangeError)) throw error;
      return ddlFailure(error, statements, error.results.length);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  }

  it('name the event, reason and SQLSTATE without SQL', async () => {
    const number = changed(column('a', 'text'), column('a', 'integer'));
    const problem = await failure([created('n'), added(column('b', 'integer')), number]);
    expect(problem).to.deep.equal({
      code: 'DATABASE_REFUSED',
      message: 'PostgreSQL failed to alter column t.a: type: a value has a format that its type does not accept',
      collection: 't',
      field: 'a',
      details: {
        reason: 'a value has a format that its type does not accept',
        sqlstate: '22P02',
        statement: 'alter column t.a: type',
        event: 2,
      },
    });
  });

  it("use PostgreSQL's message for duplicates and nulls", async () => {
    const unique = await failure([changed(column('a', 'text'), column('a', 'text', { is_unique: true }))]);
    expect(unique).to.deep.include({ code: 'DATABASE_REFUSED', collection: 't', field: 'a' });
    expect(unique.details).to.include({ sqlstate: '23505' });
    const missing = await failure([added(column('b', 'integer', { is_nullable: false }))]);
    expect(missing.details).to.include({
      sqlstate: '23502',
      reason: 'column "b" of relation "t" contains null values',
    });
  });

  it('report a busy lock as a busy lock', async () => {
    const holder = await projected.pool.connect();
    try {
      await holder.query('BEGIN; LOCK TABLE t IN ACCESS SHARE MODE');
      expect(await failure([added(column('b', 'integer'))], `SET LOCAL lock_timeout = 20`)).to.deep.include({
        code: 'LOCK_TIMEOUT',
        collection: 't',
        field: 'b',
      });
      expect(await failure([added(column('b', 'integer'))], `SET LOCAL statement_timeout = 20`)).to.include({
        code: 'LOCK_TIMEOUT',
      });
    } finally {
      await holder.query('ROLLBACK');
      holder.release();
    }
  });

  it('name the setting, its value and the need for a full lock table', () => {
    const error = Object.assign(new pg.DatabaseError('out of shared memory', 0, 'error'), {
      code: '53200',
      file: 'lock.c',
    });
    const events = Array.from({ length: 500 }, (_, index) =>
      created(`c${index}`, [column('u', 'text', { is_unique: true })]),
    );
    const { statements } = runToEnd(planBatch(projected.state(), events, 'public'));
    const settings = { max_locks_per_transaction: 64, max_connections: 50, max_prepared_transactions: 0 };
    const problem = ddlFailure(error, statements, 300, settings);
    expect(problem).to.include({ code: 'DATABASE_REFUSED', collection: 'c300' });
    expect(problem.details).to.include({ setting: 'max_locks_per_transaction', present: 64 });
    expect(problem.details?.['needed']).to.be.within(65, 300);
    expect(problem.message).to.match(/Raise max_locks_per_transaction from 64 to \d+ or more/);
    expect(ddlFailure(error, statements, 300).message).to.match(/Raise max_locks_per_transaction and restart/);
  });

  it('do not blame the batch for a lost connection or a server shutdown', () => {
    const lost = new Error('Connection terminated unexpectedly');
    const ended = Object.assign(new pg.DatabaseError('terminating connection', 0, 'error'), { code: '57P01' });
    expect(ddlFailure(lost, [], 0)).to.include({ code: 'UNAVAILABLE' });
    expect(ddlFailure(ended, [], 0)).to.include({ code: 'UNAVAILABLE' });
  });

  it('are rethrown as bugs if they are of any other kind', () => {
    const bug = new TypeError('undefined is not a function');
    expect(() => ddlFailure(bug, [], 0)).to.throw(bug);
  });
});
