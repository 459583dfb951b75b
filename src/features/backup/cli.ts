import pg from 'pg';
import type { State } from '../../schema/model/state.js';
import { type Moment, beginSnapshot, contentsOf } from './take.js';
import { type LocatedTables, tablesOf, tableText } from './contents.js';
import { writeFileWhole } from './file.js';
import { type Header, writeBackup } from './format.js';
import { signNote } from '../../log/signed-checkpoints/checkpoint.js';
import { OperatorError } from '../../kernel/problem.js';
import { readDatabase } from '../../postgres/server.js';
import { listMigrations } from '../../postgres/migrate.js';
import { withClient } from '../../postgres/pool.js';
import { verify } from '../../projector/verify/index.js';
import { readRelease } from '../../release.js';
import { type ExitCode, type Invocation, isSet } from '../../cli/command.js';
import { describeDifference } from '../../doctor/differences.js';
import { json, toOneLine, createProgress } from '../../cli/output.js';
import { withScratchDatabase } from '../../cli/connections/database.js';
import { openKeys } from '../../cli/commands/keys.js';
import { restoreBackupInto } from './cli-restore.js';
import { type PipelineContext, withPipeline } from '../../cli/connections/pipeline.js';

/**
 * Creates a backup. Other transactions that change the schema wait only until its snapshot has begun.
 * @throws OperatorError. An existing file is kept in this case
 */
export function backup(invocation: Invocation): Promise<ExitCode> {
  const [file = ''] = invocation.positionals;
  return withPipeline(invocation, (workplace) =>
    withClient(workplace.pool, (client) => createBackup({ invocation, file, location: workplace, client })),
  );
}

interface Work {
  invocation: Invocation;
  file: string;
  location: PipelineContext;
  client: pg.ClientBase;
}

async function createBackup(work: Work): Promise<ExitCode> {
  const { invocation, file, location, client } = work;
  const moment = await begin(work);
  const { applied: migration } = await listMigrations(client);
  const { database: name, version } = await readDatabase(client);
  const progress = createProgress(invocation.terminal, 'tables');
  const about = { release: readRelease(), migration, database: { name, version }, onRows: progress.at };
  const contents = await contentsOf(client, { ...moment, schema: location.schema }, about);
  const { key, privateKey } = await (await openKeys(location.pool, invocation.config())).signer();
  const sign = (text: string): string => signNote(text, key, privateKey);
  const isVerified = isSet(invocation.values, 'verify');
  const bytes = await writeFileWhole(file, writeBackup({ ...contents, sign }), async (partial) => {
    progress.end();
    // The snapshot has begun, so schema changes need not wait any longer.
    await client.query('ROLLBACK');
    if (isVerified)
      await tryRestore(work, { partial, state: moment.state, rowCounts: contents.rowCounts, keys: [key] });
  });
  show(invocation, contents.header, { file, bytes, tables: moment.tables.length, verified: isVerified });
  return 0;
}

interface TryRestore {
  partial: string;
  state: State;
  keys: Parameters<typeof restoreBackupInto>[1]['keys'];
  /** The number of written rows by table. */
  rowCounts: ReadonlyMap<string, number>;
}

/**
 * Restores the backup into a scratch database. @throws OperatorError if it cannot be restored, or if the result differs
 */
async function tryRestore(
  { invocation, location }: Work,
  { partial, state, keys, rowCounts }: TryRestore,
): Promise<void> {
  const differences = await withScratchDatabase(invocation.config(), location, async (connectionString) => {
    const { replayed } = await restoreBackupInto(invocation, { file: partial, keys, connectionString });
    const { verification, damaged } = replayed;
    return [
      ...verification.differences.map(describeDifference),
      ...(damaged === null ? [] : [`  the log is damaged at position ${damaged.position}: ${damaged.reason}`]),
      ...(await compareRowCounts(connectionString, { schema: location.schema, state }, rowCounts)),
    ];
  }).catch((cause: unknown) => {
    if (!(cause instanceof Error)) throw cause;
    throw new OperatorError(`${NOT_RESTORABLE} ${cause.message}`, { cause });
  });
  if (differences.length > 0) {
    throw new OperatorError(`${NOT_RESTORABLE} The scratch database differs:\n${differences.join('\n')}`);
  }
}

const NOT_RESTORABLE = 'Nothing was written: the backup could not be restored into a scratch database.';

async function compareRowCounts(
  connectionString: string,
  located: LocatedTables,
  rowCounts: ReadonlyMap<string, number>,
): Promise<string[]> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const lines: string[] = [];
    for (const [table, expected] of rowCounts) {
      const from = tableText(located, table);
      const { rows } = await client.query<{ count: string }>(`SELECT pg_catalog.count(*) AS count FROM ONLY ${from}`);
      const count = rows[0]?.count;
      if (count !== String(expected)) lines.push(`  rows of ${toOneLine(table)}: expected ${expected}, found ${count}`);
    }
    return lines;
  } finally {
    await client.end();
  }
}

/** Holds the log's lock until the backup's transaction has begun and its tables are locked. */
function begin({ invocation, location, client }: Work): Promise<Moment> {
  const { schema, pipeline } = location;
  const { lockTimeout } = invocation.config();
  return pipeline.underLock(async (locked, { state, head }) => {
    const { position, hash } = head;
    const moment = { schema, state, head: { position, hash }, tables: tablesOf(state), lockTimeout };
    await beginSnapshot(client, moment);
    const { ok, differences } = await verify(locked, state, schema);
    if (ok) return moment;
    throw new OperatorError(
      `Nothing was written: the database differs from the log, so a backup could not be restored. Run "dps drift" to resolve the differences.\n${differences.map(describeDifference).join('\n')}`,
    );
  });
}

interface WrittenBackup {
  file: string;
  bytes: number;
  tables: number;
  /** True if the backup was restored into a scratch database and compared. */
  verified: boolean;
}

function show({ values, terminal }: Invocation, { head, not_included: left }: Header, written: WrittenBackup): void {
  if (isSet(values, 'json')) return terminal.print(json({ ...written, head, not_included: left }));
  const { file, bytes, tables, verified } = written;
  const names = Object.entries(left).map(([kind, all]) => `  ${kind}: ${all.map(toOneLine).join(', ')}`);
  terminal.print(
    [
      `${file}: position ${head.position}, ${tables} tables, users and tokens; ${bytes} bytes.`,
      ...(verified ? ['Verified: the backup was restored into a scratch database and compared.'] : []),
      ...(names.length === 0 ? [] : ['Not in the backup:', ...names]),
    ].join('\n'),
  );
}
