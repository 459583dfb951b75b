import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { EventRecord } from '../../log/read.js';
import { readNdjsonPages } from '../../log/ndjson.js';
import { OperatorError } from '../../operator-error.js';
import { type ExitCode, type Invocation, UsageError, text } from '../command.js';
import { withServer } from '../database.js';
import { type Progress, createProgress } from '../progress.js';
import { replayInto, showReplayed } from '../replay.js';

export async function restore(invocation: Invocation): Promise<ExitCode> {
  const file = text(invocation.values, 'file');
  if (file === undefined) throw new UsageError('--file is missing.');
  const into = text(invocation.values, 'into');
  const work = (connectionString: string) => restoreFile(invocation, file, connectionString);
  return into === undefined ? withServer(invocation.config(), work, true) : work(into);
}

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
