import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import pg from 'pg';
import { readKeys } from '../../cli/checkpoint-files.js';
import { type ExitCode, type Invocation, isSet, UsageError, text, texts } from '../../cli/command.js';
import { openKeys } from '../../cli/commands/keys.js';
import { withEmptyDatabase, withServer, withServerAt } from '../../cli/connections/database.js';
import { type PipelineContext, withPipeline } from '../../cli/connections/pipeline.js';
import { replayInto, showReplay } from '../../cli/connections/projections.js';
import { json, toOneLine, createProgress, type Progress } from '../../cli/output.js';
import { describeDifference } from '../../doctor/differences.js';
import { OperatorError } from '../../kernel/problem.js';
import type { Document } from '../../log/document-lines.js';
import { gatherDocuments } from '../../log/documents.js';
import { readNdjsonPages } from '../../log/ndjson.js';
import type { EventRecord } from '../../log/read.js';
import { signNote, type NoteKey } from '../../log/signed-checkpoints/checkpoint.js';
import { listMigrations, findNewestMigration } from '../../postgres/migrate.js';
import { withClient } from '../../postgres/pool.js';
import { readDatabase } from '../../postgres/server.js';
import { type Replayed, checkReplay } from '../../projector/replay.js';
import { verify } from '../../projector/verify/index.js';
import { OWNER } from '../../projector/verify/properties.js';
import { readRelease } from '../../release.js';
import type { State } from '../../schema/model/state.js';
import { type LocatedTables, tablesOf, tableText, type Moment, beginSnapshot, contentsOf } from './contents.js';
import { writeFileWhole, readBackupFile } from './file.js';
import { type Header, writeBackup, openBackup } from './format.js';
import { restoreFrom } from './restore.js';

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
  const differences = await withEmptyDatabase(invocation.config(), location, async (connectionString) => {
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
    // A restore creates everything for the role of OBJECTS_OWNER, so other owners do not matter.
    const differences = (await verify(locked, state, schema)).differences.filter(({ member }) => member !== OWNER);
    if (differences.length === 0) return moment;
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

/**
 * Restores a file. Reads the file completely before anything is written. Returns 1 if a document of the log is damaged
 * or the database differs from the log.
 */
export async function restore(invocation: Invocation): Promise<ExitCode> {
  const { values } = invocation;
  const [file, backup, into] = [text(values, 'file'), text(values, 'backup'), text(values, 'into')];
  if ((file === undefined) === (backup === undefined)) throw new UsageError('Use --file or --backup.');
  if (backup === undefined && texts(values, 'key').length > 0) {
    throw new UsageError('--key requires --backup, whose signature it verifies.');
  }
  const keys = await readKeys(texts(values, 'key'));
  const check = () =>
    backup === undefined ? checkFile(invocation, file ?? '') : checkBackup(invocation, backup, keys);
  const work = (connectionString: string) =>
    file === undefined
      ? restoreBackup(invocation, { file: backup ?? '', keys, connectionString })
      : restoreFile(invocation, file, connectionString);
  // The whole file is checked before anything changes, and before an embedded server starts. An address is checked first.
  if (into !== undefined)
    return withServerAt(invocation, into, async (connectionString) => {
      await check();
      return work(connectionString);
    });
  await check();
  return withServer(invocation.config(), work, true);
}

async function checkBackup({ terminal, config }: Invocation, file: string, keys: readonly NoteKey[]): Promise<void> {
  const size = await sizeOf(file);
  const progress = createProgress(terminal, 'checking');
  const source = readBackupFile(file, (read) => progress.at(read, size));
  const opened = await openBackup(source, keys);
  if (opened.header.migration > (await findNewestMigration())) {
    throw new OperatorError(
      `A newer release wrote the backup (${opened.header.release}). Restore it with that release.`,
    );
  }
  for await (const _ of opened.sections());
  progress.end();
  // The log is read in a second pass, after the checksum was verified. A wrong checksum would explain every other
  // error.
  const { schema, schemas } = config();
  const { pages } = restoreFrom(await openBackup(readBackupFile(file)));
  await checkReplay({ pages, tables: 'end-state', schema, schemas });
  terminal.note(
    keys.length > 0
      ? 'The signature of the backup was verified.'
      : 'The signature of the backup was not verified. Pass the public key, which you must obtain separately, with --key.',
  );
}

async function checkFile({ terminal, config }: Invocation, file: string): Promise<void> {
  const { schema, schemas } = config();
  const pages = await open(file, createProgress(terminal, 'checking'), () => undefined);
  await checkReplay({ pages, tables: 'end-state', schema, schemas });
}

interface BackupInto {
  file: string;
  keys: readonly NoteKey[];
  connectionString: string;
}

/**
 * Restores into an empty database.
 * @throws OperatorError if the backup is damaged or PostgreSQL rejects it
 */
export async function restoreBackupInto(
  invocation: Invocation,
  { file, keys, connectionString }: BackupInto,
): Promise<{ header: Header; replayed: Replayed }> {
  const { schema, schemas, serviceSchema, objectsOwner } = invocation.config();
  const size = await sizeOf(file);
  const reading = createProgress(invocation.terminal, 'restoring');
  const opened = await openBackup(
    readBackupFile(file, (read) => reading.at(read, size)),
    keys,
  );
  const { pages, documents, fill } = restoreFrom(opened);
  const replayed = await replayInto({
    connectionString,
    schema,
    schemas,
    serviceSchema,
    objectsOwner,
    pages,
    documents,
    tables: 'end-state',
    fill,
  });
  reading.end();
  return { header: opened.header, replayed };
}

async function restoreBackup(invocation: Invocation, into: BackupInto): Promise<ExitCode> {
  const { header, replayed } = await restoreBackupInto(invocation, into);
  const left = Object.entries(header.not_included).map(
    ([kind, names]) => `${kind}: ${names.map(toOneLine).join(', ')}`,
  );
  if (left.length > 0) invocation.terminal.note(`Not in the backup: ${left.join('; ')}.`);
  return showReplay(invocation, replayed);
}

async function restoreFile(invocation: Invocation, file: string, connectionString: string): Promise<ExitCode> {
  const { terminal } = invocation;
  const { schema, schemas, serviceSchema, objectsOwner } = invocation.config();
  const reading = createProgress(terminal, 'reading');
  const making = createProgress(terminal, 'tables');
  const documents = gatherDocuments();
  const pages = await open(file, reading, documents.add);
  const replayed = await replayInto({
    connectionString,
    schema,
    schemas,
    serviceSchema,
    objectsOwner,
    pages,
    documents: documents.take,
    tables: 'end-state',
    onTables: making.at,
  });
  making.end();
  return showReplay(invocation, replayed);
}

/** Opens the file and returns its pages. Reports progress in bytes. */
async function open(
  file: string,
  progress: Progress,
  onDocument: (document: Document) => void,
): Promise<AsyncIterable<EventRecord[]>> {
  return readThrough(file, { size: await sizeOf(file), progress, onDocument });
}

async function sizeOf(file: string): Promise<number> {
  const stats = await stat(file).catch((cause: Error) => {
    throw new OperatorError(`${file} cannot be read (${cause.message}).`, { cause });
  });
  if (!stats.isFile()) throw new OperatorError(`${file} cannot be read: it is not a file.`);
  return stats.size;
}

interface RestoreStreamOptions {
  size: number;
  progress: Progress;
  onDocument: (document: Document) => void;
}

async function* readThrough(
  file: string,
  { size, progress, onDocument }: RestoreStreamOptions,
): AsyncGenerator<EventRecord[]> {
  const stream = createReadStream(file);
  for await (const page of readNdjsonPages(stream, onDocument)) {
    yield page;
    progress.at(stream.bytesRead, size);
  }
  progress.end();
}
