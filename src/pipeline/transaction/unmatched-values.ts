/** Counts restored values whose rows no longer exist. Their copy is dropped with the restore. */
import type pg from 'pg';
import { runScript } from '../../postgres/exchange.js';
import { selectUnmatched } from '../../projector/ddl/unmatched-values.js';
import { type LogEvent, readRestored } from '../../schema/model/events.js';
import type { CompletedChange } from '../types.js';

/** True if the event copies values from the trash to a new column. */
export const restoresValues = (event: LogEvent): boolean =>
  event.type === 'field.created' && readRestored(event.data) !== undefined;

/** Runs after the statements of the events, in the same transaction. */
export async function countUnmatched(
  client: pg.ClientBase,
  events: readonly LogEvent[],
): Promise<Pick<CompletedChange, 'unmatched'>> {
  const restored = events.flatMap((event) => {
    const values = event.type === 'field.created' ? readRestored(event.data) : undefined;
    const { collection, field } = event;
    if (values === undefined || collection === null || field === null) return [];
    return [{ collection, field, position: values.position }];
  });
  if (restored.length === 0) return {};
  const results = await runScript(
    client,
    restored.map(({ position }) => selectUnmatched(position)),
  );
  const counts = results.flatMap(({ rows }) => rows as { unmatched: number | string | null }[]);
  const unmatched = restored.map((each, index) => ({ ...each, count: Number(counts[index]?.unmatched) }));
  return { unmatched: unmatched.filter(({ count }) => count > 0) };
}
