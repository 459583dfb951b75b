import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { EventRecord } from '../../log/read.js';
import { readNdjsonPages } from '../../log/ndjson.js';
import { OperatorError } from '../../operator-error.js';
import { type Command, type ExitCode, type Invocation, UsageError, takePositionals, text } from '../command.js';
import { withServer } from '../database.js';
import { type Progress, createProgress } from '../progress.js';
import { replayInto, showReplayed } from '../replay.js';

export const restore: Command = {
  name: 'restore',
  summary: 'make an empty database what an exported log says',
  help: `dps restore: the log and the schema from an export alone, into an empty database

  dps restore --file FILE [--into URL]

The events are taken over as they are: positions, ids, times, hashes. The chain is checked while the file is read; then
the tables are made as they were at the end, and everything is verified. Items, users and tokens are not in the log: the
next start of the service creates its admin anew. A restore that is broken off leaves a database that no service starts
on: drop it.

  --file FILE        what GET /history/export answered (one event a line)
  --into URL         postgres://… of an empty database; DATABASE_URL, or the embedded server of DATA_DIR, by default
  --data-dir DIR     instead of DATA_DIR
  --json             print for machines`,
  options: { file: { type: 'string' }, into: { type: 'string' }, 'data-dir': { type: 'string' } },
  async run(invocation) {
    takePositionals(invocation);
    const file = text(invocation.values, 'file');
    if (file === undefined) throw new UsageError('--file is missing.');
    const into = text(invocation.values, 'into');
    const work = (connectionString: string) => restoreFile(invocation, file, connectionString);
    return into === undefined ? withServer(invocation.config(), work, true) : work(into);
  },
};

async function restoreFile(invocation: Invocation, file: string, connectionString: string): Promise<ExitCode> {
  const { terminal } = invocation;
  const { schema } = invocation.config();
  const reading = createProgress(terminal, 'reading');
  const making = createProgress(terminal, 'tables');
  const pages = await open(file, reading);
  const replayed = await replayInto({ connectionString, schema, pages, tables: 'end-state', onTables: making.at });
  making.end();
  return showReplayed(invocation, replayed);
}

/** Pages of the file; how far they are is told in bytes. */
async function open(file: string, progress: Progress): Promise<AsyncIterable<EventRecord[]>> {
  const size = await stat(file).then(
    (found) => found.size,
    (cause: Error) => {
      throw new OperatorError(`${file} can't be read (${cause.message}).`, { cause });
    },
  );
  return readThrough(file, size, progress);
}

async function* readThrough(file: string, size: number, progress: Progress): AsyncGenerator<EventRecord[]> {
  const stream = createReadStream(file);
  for await (const page of readNdjsonPages(stream)) {
    yield page;
    progress.at(stream.bytesRead, size);
  }
  progress.end();
}
