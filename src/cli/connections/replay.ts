/** Replays a log into an empty database and reports the result. */
import type { EventRecord } from '../../log/read.js';
import { type ReplayOptions, type Replayed, replay } from '../../projector/replay/index.js';
import { openTarget } from '../../projector/replay/target.js';
import { type ExitCode, type Invocation, isSet } from '../command.js';
import { countDifferences, describeDifference } from '../../doctor/differences.js';
import { json } from '../output.js';
import { silentLogger } from './silent-logger.js';

export interface ReplayInto extends Pick<ReplayOptions, 'tables' | 'documents' | 'onReplayed' | 'onTables' | 'fill'> {
  connectionString: string;
  schema: string;
  serviceSchema: string;
  pages: AsyncIterable<EventRecord[]>;
}

/** @throws OperatorError if the target is not empty, the chain is broken, or PostgreSQL rejects a statement */
export async function replayInto({
  connectionString,
  schema,
  serviceSchema,
  ...options
}: ReplayInto): Promise<Replayed> {
  const target = await openTarget({ connectionString, schema, serviceSchema, logger: silentLogger });
  try {
    return await replay({ ...options, target });
  } finally {
    await target.close();
  }
}

/** 1 if the result differs from the log, or the log is damaged. */
export function showReplayed({ values, terminal }: Invocation, replayed: Replayed): ExitCode {
  const { head, collections, statements, verification, damaged } = replayed;
  const { differences } = verification;
  const ok = verification.ok && damaged === null;
  if (isSet(values, 'json')) {
    terminal.print(
      json({ ok, position: head.position, hash: head.hash, collections, statements, differences, damaged }),
    );
  } else {
    terminal.print(
      [
        `${head.position} events, ${collections} collections, ${statements} statements; head ${head.hash}.`,
        verification.ok
          ? 'Verified: fold, metadata rows and catalog say the same.'
          : `${countDifferences(differences)}:\n${differences.map(describeDifference).join('\n')}`,
        ...(damaged === null ? [] : [`The log is damaged at position ${damaged.position}: ${damaged.reason}.`]),
      ].join('\n'),
    );
  }
  return ok ? 0 : 1;
}
