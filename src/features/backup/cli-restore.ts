import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Document } from '../../log/document-lines.js';
import { gatherDocuments } from '../../log/documents.js';
import type { EventRecord } from '../../log/read.js';
import { readBackupFile } from './file.js';
import { openBackup, type Header } from './format.js';
import { restoreFrom } from './restore.js';
import { findNewestMigration } from '../../postgres/migrate.js';
import { readNdjsonPages } from '../../log/ndjson.js';
import { OperatorError } from '../../kernel/problem.js';
import type { NoteKey } from '../../log/signed-checkpoints/checkpoint.js';
import { type Replayed, checkReplay } from '../../projector/replay.js';
import { readKeys } from '../../cli/checkpoint-files.js';
import { type ExitCode, type Invocation, UsageError, text, texts } from '../../cli/command.js';
import { toOneLine, type Progress, createProgress } from '../../cli/output.js';
import { withServer, withServerAt } from '../../cli/connections/database.js';
import { replayInto, showReplay } from '../../cli/connections/projections.js';

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
  const { schema, schemas, serviceSchema } = invocation.config();
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
  const { schema, schemas, serviceSchema } = invocation.config();
  const reading = createProgress(terminal, 'reading');
  const making = createProgress(terminal, 'tables');
  const documents = gatherDocuments();
  const pages = await open(file, reading, documents.add);
  const replayed = await replayInto({
    connectionString,
    schema,
    schemas,
    serviceSchema,
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
