/** Loads, adopts, applies the snapshot to an empty instance, and compares the catalogs. */
import { initialState } from '../../../src/schema/model/state.js';
import { expect } from 'chai';
import pg from 'pg';
import { replayInto } from '../../../src/cli/connections/projections.js';
import { readRecordPages } from '../../../src/log/read.js';
import { readAdoption, type Adoption, readCatalogFindings } from '../../../src/features/adopt/read.js';
import type { Outcome } from '../../../src/pipeline/index.js';
import { verify } from '../../../src/projector/verify/index.js';
import { compareSnapshot } from '../../../src/schema/compare/compare-snapshot.js';
import type { AdoptRequest } from '../../../src/schema/operations/adopt-tables.js';
import { type Snapshot, snapshotHash, snapshotOf } from '../../../src/schema/snapshot/snapshot.js';
import { CAUSE, type Instance, command, expectDone, startInstance } from '../../support/instance.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';
import { catalogText } from '../../support/catalog-text.js';
import { runToEnd } from '../../../src/kernel/resumable.js';

const RELEASE = '1.2.3';

export interface AdoptFixture {
  instance: Instance;
  database: TestDatabase;
  stop(): Promise<void>;
}

/** An instance on its own database, with SQL that ran before it started. */
export async function startAdoptFixture(sql = '', schema = 'public'): Promise<AdoptFixture> {
  const database = await createDatabase();
  await runSql(database, sql);
  const instance = await startInstance(database.connectionString, { schema });
  return {
    instance,
    database,
    async stop() {
      await instance.stop();
      await database.drop();
    },
  };
}

/** Runs like a psql script on its own connection, whose settings end with it. */
export async function runSql({ connectionString }: TestDatabase, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    if (sql !== '') await client.query(sql);
  } finally {
    await client.end();
  }
}

export async function adopt({ pipeline, schema }: Instance, request: AdoptRequest = { all: true }): Promise<Adoption> {
  let adoption: Adoption | undefined;
  const outcome = await pipeline.apply(
    'adopt-tables',
    async (client, state) => {
      adoption = await readAdoption({ client, schema, schemas: [schema], state }, request);
      return { request, found: adoption };
    },
    { cause: { ...CAUSE, command: 'adopt-tables' } },
  );
  expectDone(outcome);
  if (adoption === undefined) throw new Error('the catalog was not read');
  return adoption;
}

export async function expectVerified({ pipeline, schema }: Instance): Promise<void> {
  const { differences } = await pipeline.underLock((client, { state }) => verify(client, state, schema));
  expect(differences, JSON.stringify(differences, null, 1)).to.deep.equal([]);
}

/** Replaying the log creates the same tables in an empty database, event by event and in their final form. */
export async function expectReplayed({ pool }: Instance): Promise<void> {
  for (const tables of ['every-event', 'end-state'] as const) {
    const target = await createDatabase();
    try {
      const pages = readRecordPages(pool, { after: 0 });
      const { connectionString } = target;
      const { verification } = await replayInto({
        connectionString,
        schema: 'public',
        serviceSchema: 'service',
        pages,
        tables,
      });
      expect(verification.differences, tables).to.deep.equal([]);
    } finally {
      await target.drop();
    }
  }
}

/** @param exact drops everything that has no extras in the snapshot; otherwise it would stay */
export async function promote(from: Instance, to: Instance, how: { exact?: boolean } = {}): Promise<void> {
  expectDone(await tryPromoting(from, to, how));
  expect(runToEnd(snapshotHash(to.store.current(), RELEASE))).to.equal(
    runToEnd(snapshotHash(from.store.current(), RELEASE)),
  );
}

interface Promoting {
  exact?: boolean;
  /** A manual edit of the snapshot. */
  edit?: (snapshot: Snapshot) => void;
}

export function tryPromoting(from: Instance, to: Instance, { exact = false, edit }: Promoting = {}): Promise<Outcome> {
  const snapshot = JSON.parse(JSON.stringify(runToEnd(snapshotOf(from.store.current(), RELEASE)))) as Snapshot;
  if (exact) {
    for (const { schema } of [...snapshot.collections, ...snapshot.fields]) withNull(schema, 'extras');
    for (const { schema } of snapshot.relations) withNull(schema, 'deferrable');
  }
  edit?.(snapshot);
  const compared = runToEnd(
    compareSnapshot(to.store.current(), snapshot, { force: false, mode: 'mirror', release: RELEASE }),
  );
  if (!compared.ok) throw new Error(JSON.stringify(compared.problems, null, 1));
  const body = JSON.parse(JSON.stringify({ hash: compared.value.hash, diff: compared.value.diff })) as unknown;
  const apply = command('apply-diff', { release: RELEASE, body });
  return to.pipeline.apply('apply-diff', apply, { cause: { ...CAUSE, command: 'apply-diff' } });
}

function withNull(schema: object | null, member: string): void {
  if (schema !== null && !(member in schema)) Object.assign(schema, { [member]: null });
}

/** Lines about objects that were not listed. */
function unlisted(lines: readonly string[], { notRepresented, refused }: Adoption): string[] {
  const listed = new Set(notRepresented.map(({ kind, name }) => `${kind} ${name}`));
  const without = new Set(refused.map(({ table }) => table));
  return lines.filter((line) => {
    const [kind = '', name = ''] = line.split(' ');
    if (listed.has(`type ${name}`) && (kind === 'enum' || kind === 'domain')) return false;
    return !listed.has(`${kind} ${name}`) && !(kind === 'table' && without.has(name));
  });
}

/** Shows only differences, because two thousand lines are unreadable. */
function expectSame(before: readonly string[], after: readonly string[]): void {
  const [there, here] = [new Set(before), new Set(after)];
  const missing = before.filter((line) => !here.has(line));
  const extra = after.filter((line) => !there.has(line));
  expect({ missing, extra }, JSON.stringify({ missing, extra }, null, 1)).to.deep.equal({ missing: [], extra: [] });
}

export interface RoundTrip {
  tables: number;
  adoption: Adoption;
  /** Lines of the catalog. */
  lines: number;
  reading: number;
  adopting: number;
}

/**
 * Runs the complete round trip.
 * @param rows SQL that fills tables before they are adopted
 */
export async function roundTrip(sql: string, rows = ''): Promise<RoundTrip> {
  const [source, target] = [await startAdoptFixture(sql), await startAdoptFixture()];
  try {
    await runSql(source.database, rows);
    const before = await catalogText(source.instance.pool);
    const reading = await measure(() => readAll(source.instance));
    let adoption: Adoption | undefined;
    const adopting = await measure(async () => {
      adoption = await adopt(source.instance);
    });
    if (adoption === undefined) throw new Error('nothing was adopted');
    expect(await catalogText(source.instance.pool), 'adopting changes nothing').to.deep.equal(before);
    await expectVerified(source.instance);
    await promote(source.instance, target.instance);
    await expectVerified(target.instance);
    const after = await catalogText(target.instance.pool);
    expectSame(unlisted(before, adoption), unlisted(after, adoption));
    const tables = source.instance.store.current().collections.size;
    return { tables, adoption, lines: before.length, reading, adopting };
  } finally {
    await source.stop();
    await target.stop();
  }
}

async function readAll({ pool, schema }: Instance): Promise<void> {
  const client = await pool.connect();
  try {
    await Promise.all(readCatalogFindings(client, { schema, schemas: [schema], state: initialState() }));
  } finally {
    client.release();
  }
}

async function measure(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
