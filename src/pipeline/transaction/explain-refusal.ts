/** Adds details to an error of PostgreSQL after the transaction has released its locks. */
import type pg from 'pg';
import { sendScript } from '../../postgres/exchange.js';
import { type Sql, ident, join, sql } from '../../projector/ddl/sql.js';
import { type Refused, offendingRowsOf, withCount } from '../../projector/refusals/offending-rows.js';
import { namingExtension } from '../../projector/refusals/missing-extension.js';
import { type Taken, takenParts, withTaken } from '../../projector/refusals/taken-names.js';
import type { Problem } from '../../kernel/problem.js';
import { type LogEvent, type RestoredCollection, takenFromTrash } from '../../schema/model/events.js';
import type { State } from '../../schema/model/state.js';
import { SAVEPOINT } from './begin.js';

/** Counting may take 1.5 seconds. A fast answer without the count is better than a late one. */
const LIMITS = sql`SELECT pg_catalog.set_config('statement_timeout', '1500', true), pg_catalog.set_config('lock_timeout', '1500', true)`;

export interface Explained {
  before: State;
  after: State;
  events: readonly LogEvent[];
  schema: string;
  /** The transaction continues from its savepoint after the error. */
  keeps: boolean;
}

/** Rolls back the failed transaction. It then holds no table lock, and without `keeps` no lock at all. */
export async function explained(client: pg.ClientBase, problem: Problem, how: Explained): Promise<Problem> {
  const named = namingExtension(problem, how.after);
  if (isOfReturningValues(named, how.events)) return named;
  const inquiry = inquiryOf({ ...how, problem: named, restored: restoredBy(how.events) });
  if (inquiry === null) return named;
  const back = how.keeps ? sql`ROLLBACK TO SAVEPOINT ${ident(SAVEPOINT)}` : sql`ROLLBACK`;
  const start = how.keeps ? back : sql`${back}; BEGIN READ ONLY`;
  try {
    const script = join([start, LIMITS, inquiry.question, back], sql`; `);
    const results = await sendScript(client, script);
    return inquiry.told(results.at(-2)?.rows ?? []);
  } catch {
    await sendScript(client, back).catch(() => undefined);
    return named;
  }
}

/** Rows that violate a rule with values from the trash cannot be counted after the rollback. */
function isOfReturningValues({ details }: Problem, events: readonly LogEvent[]): boolean {
  const event = events[Number(details?.['event'])];
  const isBroken = String(details?.['sqlstate']).startsWith('23');
  return isBroken && event?.type === 'field.created' && takenFromTrash(event.data) !== undefined;
}

const restoredBy = (events: readonly LogEvent[]): NonNullable<Refused['restored']> =>
  new Map(
    events.flatMap((event): [string, RestoredCollection][] => {
      const restored = event.type === 'collection.created' ? takenFromTrash(event.data) : undefined;
      return restored === undefined || event.collection === null ? [] : [[event.collection, restored]];
    }),
  );

interface Inquiry {
  question: Sql;
  /** The problem with the result of the query. */
  told: (rows: readonly unknown[]) => Problem;
}

/** Returns the query that explains an error: the offending rows, or the object that has a name. */
function inquiryOf(refused: Refused): Inquiry | null {
  const { problem } = refused;
  const offenders = offendingRowsOf(refused);
  if (offenders !== null) {
    const count = (rows: readonly unknown[]) => Number((rows[0] as { count: unknown }).count);
    return { question: offenders.question, told: (rows) => withCount(problem, offenders, count(rows)) };
  }
  const question = takenParts(refused);
  return question && { question, told: (rows) => withTaken(problem, rows as readonly Taken[]) };
}
