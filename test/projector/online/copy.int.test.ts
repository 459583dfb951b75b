import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type pg from 'pg';
import { createPool } from '../../../src/postgres/pool.js';
import {
  PREPARATION_LOST,
  createPreparationEngine,
  type DecidedChange,
  type PreparationStep,
  type StepContext,
  type StepProgress,
} from '../../../src/projector/online/index.js';
import { sql } from '../../../src/projector/ddl/sql.js';
import type { Statement } from '../../../src/projector/ddl/step.js';
import { copyTable, createCopying, applyNotes, notedTable } from '../../../src/projector/online/copy.js';
import { preparedOf } from '../../../src/projector/online/steps.js';
import { initialState } from '../../../src/schema/model/state.js';
import type { Json } from '../../../src/kernel/json.js';
import { silent } from '../../support/instance.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';
import { catalogText } from '../../support/catalog-text.js';
import { until } from '../../support/until.js';
import { type Kept, applyChange, contextOf, engine, openSession } from './online.js';
import { writing } from './writing.js';

const POSITION = 7;

/** Like the planner's statement for kept values. */
const statement: Statement = {
  sql: sql`SELECT`,
  summary: 'keep the values of t.v in the trash',
  object: { kind: 'column', name: 'v', table: 't' },
  drops: [],
  lock: 'ACCESS EXCLUSIVE',
  locks: [{ table: 't', lock: 'ACCESS EXCLUSIVE' }],
  loses_data: false,
  rewrites_table: false,
  may_fail: false,
  lock_entries: 4,
  preparable: {
    kind: 'copy',
    column: { name: 'v', identity: '1.3' },
    key: [
      { name: 'a', identity: '1.1' },
      { name: 'B b', identity: '1.2' },
    ],
    position: POSITION,
  },
  source: { event: 0, type: 'field.deleted', collection: 't', field: 'v' },
};

interface PlanNode {
  'Node Type': string;
  'Parent Relationship'?: string;
  Plans?: PlanNode[];
}

const nodesOf = (node: PlanNode | undefined): PlanNode[] =>
  node === undefined ? [] : [node, ...(node.Plans ?? []).flatMap(nodesOf)];

describe('copying column values', () => {
  let database: TestDatabase;
  let session: pg.Client;
  let application: pg.Pool;
  const id = randomUUID();
  const change: DecidedChange = {
    id,
    before: initialState(),
    after: initialState(),
    events: [],
    statements: [statement],
    schema: 'public',
  };
  let steps: PreparationStep[];

  beforeEach(async () => {
    database = await createDatabase('migrated');
    session = await openSession(database.connectionString);
    application = createPool({
      connectionString: database.connectionString,
      schema: 'public',
      serviceSchema: 'service',
      max: 6,
      logger: silent,
    });
    await session.query(`CREATE TABLE t (a int, "B b" text, v json, other int, PRIMARY KEY ("B b", a))`);
    await session.query(
      `INSERT INTO t SELECT i, 'k' || i % 7, json_build_object('n', i), i FROM generate_series(1, 20000) i`,
    );
    const missing = engine.preparedStatements(change, await planSteps());
    if (missing.kind !== 'prepared') throw new Error('the steps are not those of the change');
    steps = await planSteps();
  });
  afterEach(async () => {
    await session.end();
    await application.end();
    await database.drop();
  });

  /** The steps for a state that knows only the table of the statement. */
  async function planSteps(): Promise<PreparationStep[]> {
    const { stepsOf } = await import('../../../src/projector/online/steps.js');
    const prepared = preparedOf(statement);
    if (prepared === undefined) throw new Error('nothing to prepare');
    const size = { rows: 20_000, bytes: 1 };
    const planned = stepsOf({ prepared, statement, size, notNullBy: 'check', offending: null });
    return JSON.parse(JSON.stringify(planned)) as PreparationStep[];
  }

  const copyingHere = () => {
    const prepared = preparedOf(statement);
    if (prepared?.what.kind !== 'copy') throw new Error('no copy to follow for');
    return createCopying({ id, schema: 'public' }, { ...prepared, what: prepared.what });
  };

  const take = async (): Promise<void> => {
    await session.query(`CREATE SCHEMA service_trash_${POSITION}`);
    await applyChange(session, change, steps);
  };

  /** The number of rows in which the table and the copy differ. */
  const differences = async (): Promise<number> => {
    const { rows } = await session.query<{ count: number }>(`
      SELECT count(*)::int FROM (SELECT a, "B b", v::text FROM t) t
        FULL JOIN (SELECT "1.1" AS a, "1.2" AS "B b", "1.3"::text AS v FROM service_trash_${POSITION}.values) c
        USING (a, "B b") WHERE t.v IS DISTINCT FROM c.v OR t.a IS NULL OR c.a IS NULL`);
    return rows[0]?.count ?? -1;
  };

  const write = () => writing(application);

  it('matches the table at the change, regardless of writes in the meantime', async () => {
    const before = await catalogText(session, 'public');
    const { stop, written } = write();
    for (const step of steps) await engine.runStep(contextOf(session, change, step), step);
    await until('much is written meanwhile', () => written() > 50);
    await take();
    await stop();
    await session.query('DELETE FROM t WHERE false');
    // Later writes are not in the copy.
    expect(await catalogText(session, 'public')).to.deep.equal(before);
    const { rows } = await session.query(
      `SELECT relname FROM pg_class WHERE relnamespace = 'service_trash_0'::regnamespace`,
    );
    expect(rows).to.deep.equal([]);
  });

  it('contains exactly the rows of the table', async () => {
    const { stop } = write();
    for (const step of steps) await engine.runStep(contextOf(session, change, step), step);
    await stop();
    await take();
    expect(await differences()).to.equal(0);
    const { rows } = await session.query<{ noted: string }>(
      `SELECT obj_description('service_trash_${POSITION}.values'::regclass, 'pg_class') AS noted`,
    );
    expect(Number(rows[0]?.noted)).to.be.above(10_000);
  });

  it('reports its progress and pauses as configured', async () => {
    const [note, copy] = steps as [PreparationStep, PreparationStep];
    await engine.runStep(contextOf(session, change, note), note);
    const paced = createPreparationEngine({ lockWait: 100, smallTable: -1, pace: { rate: 15_000 } });
    /** Keyed by the estimated number of rows. */
    const messagesOf = async (by: typeof paced, rows: number | null): Promise<Partial<StepProgress>[]> => {
      const all: Partial<StepProgress>[] = [];
      const context = contextOf(session, change, copy, { progress: (each) => all.push(each) });
      await by.runStep(context, { ...copy, rows });
      return all;
    };
    const started = performance.now();
    const known = await messagesOf(paced, 20_000);
    expect(performance.now() - started).to.be.above(20_000 / 15);
    const following = { done: 1, phase: 'applying concurrent writes' };
    expect([known[0], known.at(-2), known.at(-1)]).to.deep.equal([
      { done: 0.05, phase: 'copying rows' },
      { done: 1, phase: 'copying rows' },
      following,
    ]);
    const fewer = await messagesOf(engine, 10_000);
    expect([fewer[0], fewer.at(-2)]).to.deep.equal([
      { done: 0.1, phase: 'copying rows' },
      { done: 1, phase: 'copying rows' },
    ]);
    const unknown = await messagesOf(engine, null);
    expect(unknown[0]).to.deep.equal({ done: null, phase: 'copying rows' });
    expect(unknown.at(-1)).to.deep.equal(following);
  });

  it('looks up rows by key even if PostgreSQL expects no notes', async () => {
    const [note] = steps as [PreparationStep];
    await engine.runStep(contextOf(session, change, note), note);
    const copying = copyingHere();
    // Simulates an autovacuum that ran while the table had no notes.
    await session.query(`VACUUM ${notedTable(copying)}`);
    const { rows } = await session.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `EXPLAIN (FORMAT json) ${applyNotes(copying, sql`20000`)}`,
    );
    const repeated = nodesOf(rows[0]?.['QUERY PLAN'][0].Plan)
      .filter((node) => node['Node Type'] === 'Nested Loop')
      .flatMap(({ Plans = [] }) => Plans.filter((each) => each['Parent Relationship'] === 'Inner'));
    expect(repeated).not.to.deep.equal([]);
    for (const inner of repeated) expect(inner['Node Type']).to.match(/^Index|^Bitmap/);
  });

  it('resumes after it was killed', async () => {
    await session.query('CREATE TABLE kept (key text PRIMARY KEY, checkpoint jsonb)');
    const { stop } = write();
    let kills = 0;
    const killer = (async () => {
      while (kills < 5) {
        await sleep(40 + Math.random() * 60);
        const { rowCount } = await application.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'online' AND datname = current_database()`,
        );
        if ((rowCount ?? 0) > 0) kills += 1;
      }
    })();
    /** A batch and its checkpoint share a transaction. */
    const contextWithTable = async (step: PreparationStep) => {
      const { rows } = await application.query<{ checkpoint: Json }>('SELECT checkpoint FROM kept WHERE key = $1', [
        step.key,
      ]);
      const save = async (checkpoint: Json): Promise<void> => {
        const text = `INSERT INTO kept VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET checkpoint = excluded.checkpoint`;
        await session.query(text, [step.key, JSON.stringify(checkpoint)]);
      };
      return contextOf(session, change, step, { checkpoint: rows[0]?.checkpoint ?? null, save });
    };
    /** Connections may be terminated at any time. */
    const opened = (): Promise<pg.Client> => openSession(database.connectionString).catch(opened);
    const slow = createPreparationEngine({ lockWait: 100, smallTable: -1, pace: { rate: 40_000 } });
    for (const step of steps) {
      for (let isDone = false; !isDone;) {
        isDone = await slow.runStep(await contextWithTable(step), step).then(
          () => true,
          (error: Error) => {
            if (error.name === 'PreparationRefused') throw error;
            return false;
          },
        );
        if (!isDone) {
          await session.end().catch(() => undefined);
          session = await opened();
        }
      }
    }
    kills = 5;
    await killer;
    await stop();
    await session.end().catch(() => undefined);
    session = await openSession(database.connectionString);
    await take();
    expect(await differences()).to.equal(0);
  });

  it('keeps no row of a failed batch, and every row of a copy that could not be emptied', async () => {
    const [note, copy] = steps as [PreparationStep, PreparationStep];
    await engine.runStep(contextOf(session, change, note), note);
    const table = copyTable(copyingHere());
    const copied = async (): Promise<number> =>
      (await application.query<{ count: number }>(`SELECT count(*)::int FROM ${table}`)).rows[0]?.count ?? -1;
    const lost = Promise.reject.bind(Promise, new Error('could not be kept')) as () => Promise<never>;
    const failing = engine.runStep(contextOf(session, change, copy, { save: lost }), copy);
    expect(await failing.catch((thrown: Error) => thrown.message)).to.equal('could not be kept');
    expect(await copied()).to.equal(0);
    const kept: Kept = new Map();
    await engine.runStep(contextOf(session, change, copy, { kept }), copy);
    await application.query('TRUNCATE t');
    const again = engine.runStep(contextOf(session, change, copy, { kept, save: lost }), copy);
    expect(await again.catch((thrown: Error) => thrown.message)).to.equal('could not be kept');
    expect(await copied()).to.equal(20_000);
  });

  it('rejects a copy with fewer or more rows than the table', async () => {
    const [note, copy] = steps as [PreparationStep, PreparationStep];
    const kept: Kept = new Map();
    await engine.runStep(contextOf(session, change, note), note);
    await engine.runStep(contextOf(session, change, copy, { kept }), copy);
    const table = copyTable(copyingHere());
    const again = async () => {
      const context = contextOf(session, change, copy, { kept });
      return engine.runStep(context, copy).catch((thrown: unknown) => (thrown as Error).message);
    };
    // These writes have notes, which the copy follows.
    await application.query(`DELETE FROM t WHERE a = 1; UPDATE t SET v = '{}' WHERE a = 2`);
    expect(await again()).to.equal(undefined);
    await application.query(`DELETE FROM ${table} WHERE "1.1" = 3`);
    expect(await again()).to.contain('the copy has 19998 rows, but "public"."t" has 19999');
    await application.query(`INSERT INTO ${table} SELECT a, "B b", v FROM t WHERE a = 3`);
    expect(await again()).to.equal(undefined);
    await application.query(`INSERT INTO ${table} VALUES (-1, 'k', '{}')`);
    expect(await again()).to.contain('the copy has 20000 rows, but "public"."t" has 19999');
  });

  it('restarts after a TRUNCATE', async () => {
    const [note, copy] = steps as [PreparationStep, PreparationStep];
    const kept: Kept = new Map();
    await engine.runStep(contextOf(session, change, note), note);
    await engine.runStep(contextOf(session, change, copy, { kept }), copy);
    await application.query('TRUNCATE t');
    await application.query(`INSERT INTO t VALUES (1, 'x', '{"after": true}', 1)`);
    const error = await take().catch((thrown: unknown) => thrown);
    expect((error as { cause: { code: string } }).cause.code).to.equal(PREPARATION_LOST);
    const again = () => contextOf(session, change, copy, { kept });
    await engine.runStep(again(), copy).catch(() => engine.runStep(again(), copy));
    await session.query(`DROP SCHEMA service_trash_${POSITION}`);
    await take();
    expect(await differences()).to.equal(0);
  });

  it('restarts and continues after a TRUNCATE during the copy', async () => {
    const [note, copy] = steps as [PreparationStep, PreparationStep];
    await engine.runStep(contextOf(session, change, note), note);
    const paced = createPreparationEngine({ lockWait: 100, smallTable: -1, pace: { rate: 10_000 } });
    const received: unknown[] = [];
    const context = contextOf(session, change, copy, { progress: ({ done }) => received.push(done) });
    const copying = paced.runStep(context, { ...copy, rows: 20_000 });
    await until('some rows are copied', () => received.length > 1);
    await application.query('TRUNCATE t');
    await application.query(`INSERT INTO t SELECT i, 'x' || i, '{"after": true}', 1 FROM generate_series(1, 50) i`);
    await copying;
    // Relative to the current rows.
    expect(received.slice(-2)).to.deep.equal([50 / 20_000, 1]);
    await take();
    expect(await differences()).to.equal(0);
  });

  it('reports how many writes remain if there are many', async () => {
    const [note, copy] = steps as [PreparationStep, PreparationStep];
    await engine.runStep(contextOf(session, change, note), note);
    const copying = copyingHere();
    await session.query(`DELETE FROM t; TRUNCATE ${notedTable(copying)}`);
    // Notes of deleted rows.
    await session.query(
      `INSERT INTO ${notedTable(copying)} SELECT -i, 'gone', false FROM generate_series(1, 205000) i`,
    );
    const { rows } = await session.query<{ copy: string }>(
      `SELECT '${copyTable(copying)}'::regclass::oid::text AS copy`,
    );
    const checkpoint = { copy: rows[0]?.copy ?? '', after: null, copied: 20_000, done: true };
    const received: unknown[] = [];
    const progress = (each: Partial<StepProgress>) => received.push(each);
    await engine.runStep(contextOf(session, change, copy, { checkpoint, progress }), copy);
    expect(received).to.deep.equal([
      { done: 1, phase: 'applying concurrent writes' },
      { phase: 'applying concurrent writes: 5,000 rows remaining' },
    ]);
  });

  it('never fails a write, and fails itself if a write could not be recorded', async () => {
    const [note, copy] = steps as [PreparationStep, PreparationStep];
    await engine.runStep(contextOf(session, change, note), note);
    const { rows } = await session.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'service_trash_0'::regnamespace AND relname ~ '_noted$'`,
    );
    await session.query(`ALTER TABLE service_trash_0."${rows[0]?.name}" ADD CHECK (false) NOT VALID`);
    await application.query(`UPDATE t SET v = '{}' WHERE a = 1`);
    const error = await engine.runStep(contextOf(session, change, copy), copy).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('name', 'PreparationRefused');
    expect((error as Error).message).to.contain('could not be tracked');
  });

  it('leaves nothing when withdrawn', async () => {
    const before = await catalogText(session, 'public');
    const [note] = steps as [PreparationStep];
    await engine.runStep(contextOf(session, change, note), note);
    const { stop } = write();
    const signal = new AbortController();
    // Slow, and withdrawn after its first batch, so that it cannot end before.
    const slow = createPreparationEngine({ lockWait: 100, smallTable: -1, pace: { rate: 1_000 } });
    const context = contextOf(session, change, steps[1] as PreparationStep, { signal: signal.signal });
    const saved: StepContext['save'] = async (checkpoint) => {
      await context.save(checkpoint);
      signal.abort(new Error('withdrawn'));
    };
    const copying = slow.runStep({ ...context, save: saved }, steps[1] as PreparationStep);
    expect(await copying.catch((thrown: unknown) => thrown)).to.be.an('error');
    await engine.cleanUp({ id, session, schema: 'public', signal: new AbortController().signal });
    await stop();
    expect(await catalogText(session, 'public')).to.deep.equal(before);
    await until('the room is gone', async () => {
      const { rows } = await session.query(`SELECT FROM pg_namespace WHERE nspname = 'service_trash_0'`);
      return rows.length === 0;
    });
    const triggers = await session.query(`SELECT FROM pg_trigger WHERE tgrelid = 't'::regclass AND NOT tgisinternal`);
    expect(triggers.rowCount).to.equal(0);
  });
});
