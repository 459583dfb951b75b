/** What is added to PostgreSQL's refusal once the transaction has given back its locks. */
import type pg from 'pg';
import { sendScript } from '../postgres/exchange.js';
import { ident, join, sql } from '../projector/ddl/sql.js';
import { offendersOf, withCount } from '../projector/offenders.js';
import { namingExtension } from '../projector/missing-extension.js';
import type { Problem } from '../schema/problem.js';
import type { State } from '../schema/state.js';
import { SAVEPOINT } from './begin.js';

/** Counting may take 1.5 seconds: an answer without the count is better than one that comes late. */
const LIMITS = sql`SELECT set_config('statement_timeout', '1500', true), set_config('lock_timeout', '1500', true)`;

export interface Explained {
  before: State;
  after: State;
  schema: string;
  /** The transaction goes on after the refusal, from its savepoint. */
  keeps: boolean;
}

/** A transaction that failed is taken back here. It holds no lock on a table any more, and without `keeps` none at all. */
export async function explained(client: pg.ClientBase, problem: Problem, how: Explained): Promise<Problem> {
  const named = namingExtension(problem, how.after);
  const offenders = offendersOf({ ...how, problem: named });
  if (offenders === null) return named;
  const back = how.keeps ? sql`ROLLBACK TO SAVEPOINT ${ident(SAVEPOINT)}` : sql`ROLLBACK`;
  const start = how.keeps ? back : sql`${back}; BEGIN READ ONLY`;
  try {
    const script = join([start, LIMITS, offenders.question, back], sql`; `);
    const results = await sendScript(client, script);
    return withCount(named, offenders, Number(results.at(-2)?.rows[0]?.['count'] ?? 0));
  } catch {
    await sendScript(client, back).catch(() => undefined);
    return named;
  }
}
