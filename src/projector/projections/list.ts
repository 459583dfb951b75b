/** The progress of each projection, its failure, and how to resolve it. */
import { headPosition } from '../../log/read.js';
import type { Queryable } from '../../postgres/pool.js';
import { CHANGES_PROJECTION } from '../change-requests/rebuild.js';
import { type Sql, sql, own } from '../ddl/sql.js';
import { TRASH_PROJECTION } from '../trash/rebuild.js';
import { INDEX_PROJECTION } from '../verify/pending-indexes.js';

/** How an operator can resume a stopped projection. */

interface Stopped {
  collection: string;
  field: string | null;
  sqlstate: string | null;
}

/** Maps a SQLSTATE or its class to a remedy. */
const REMEDIES: Readonly<Record<string, string>> = {
  '42501': 'Give the database user the right to create indexes there (it must own the table)',
  '42704': 'This type of column can have no such index: give the index up',
  '54000': 'A value is too large for such an index: shorten it, or give the index up',
  '57014': 'Something cancelled the build: look for a statement_timeout of the server',
  '55P03': 'Something holds a lock on the table: let it finish',
  '40P01': 'The build met a deadlock: nothing has to be done but to try again',
  '53': 'The server is short of disk, memory or connections: make room',
  '58': "The server's own system failed it: look into PostgreSQL's log",
  XX: 'PostgreSQL met an inner error: look into its log',
};

/** Sentences that name the remedy and how to resume. */
export function nextStep(projection: string, { collection, field, sqlstate }: Stopped): string {
  const remedy = remedyOf(sqlstate) ?? 'Mend what the message says';
  const giveUp =
    field === null ? '' : ` To give the index up, set schema.is_indexed of ${collection}.${field} to false.`;
  return (
    `${remedy}; then "dps rebuild ${projection}" or POST /projections/${projection}/rebuild tries again at once ` +
    `(it is also tried again by itself, with growing pauses).${giveUp}`
  );
}

function remedyOf(sqlstate: string | null): string | undefined {
  if (sqlstate === null) return undefined;
  for (const key of [sqlstate, sqlstate.slice(0, 2)]) if (Object.hasOwn(REMEDIES, key)) return REMEDIES[key];
  return undefined;
}

export const PROJECTION_NAMES = ['tables', 'metadata', TRASH_PROJECTION, CHANGES_PROJECTION, INDEX_PROJECTION] as const;
export type ProjectionName = (typeof PROJECTION_NAMES)[number];

/** `transactional`: written in the transaction of its events. `after-commit`: follows from its own checkpoint. */
type ProjectionKind = 'transactional' | 'after-commit';

export interface ProjectionStatus {
  name: ProjectionName;
  kind: ProjectionKind;
  /** All events up to this position are projected. */
  position: number;
  /** The number of events that are not projected yet. */
  lag: number;
  /** `failed`: stopped before an event until an operator acts or a retry succeeds. */
  status: 'running' | 'failed';
  last_error: ProjectionError | null;
  /** ISO 8601; null before its first event. */
  updated_at: string | null;
}

interface ProjectionError {
  /** The event at which it stopped. */
  position: number;
  /** Null if the event is not in the log. */
  event: { type: string; occurred_at: string; actor: string | null } | null;
  collection: string;
  field: string | null;
  sqlstate: string | null;
  /** The reason from PostgreSQL. */
  message: string;
  /** The number of attempts. */
  attempts: number;
  /** The next step for the operator. */
  next: string;
}

const KINDS: Record<ProjectionName, ProjectionKind> = {
  tables: 'transactional',
  metadata: 'transactional',
  [TRASH_PROJECTION]: 'transactional',
  [CHANGES_PROJECTION]: 'transactional',
  [INDEX_PROJECTION]: 'after-commit',
};

interface Row {
  name: string;
  position: number;
  status: string;
  last_error: Omit<ProjectionError, 'event' | 'next'> | null;
  updated_at: Date;
  type: string | null;
  occurred_at: Date | null;
  actor: string | null;
}

const QUERY: Sql = sql`
SELECT p.name, p.position, p.status, p.last_error, p.updated_at, e.type, e.occurred_at, e.actor ->> 'name'::text AS actor
FROM ${own.projections} p
LEFT JOIN LATERAL (SELECT type, occurred_at, actor FROM ${own.events} f
                    WHERE f.position = (p.last_error ->> 'position'::text)::bigint OFFSET 0) e ON true`;

/** All projections, including those without events. `head` was read at the same time or shortly before. */
export async function listProjections(db: Queryable): Promise<{ head: number; projections: ProjectionStatus[] }> {
  // The head is read first, so that a checkpoint is never behind the reported position.
  const [head, { rows }] = [await headPosition(db), await db.query<Row>(QUERY)];
  const found = new Map(rows.map((row) => [row.name, row]));
  return { head, projections: PROJECTION_NAMES.map((name) => toStatus(name, found.get(name), head)) };
}

function toStatus(name: ProjectionName, row: Row | undefined, head: number): ProjectionStatus {
  const position = row?.position ?? 0;
  const failed = row?.status === 'failed';
  return {
    name,
    kind: KINDS[name],
    position,
    lag: Math.max(0, head - position),
    status: failed ? 'failed' : 'running',
    last_error: row !== undefined && failed ? toError(name, row) : null,
    updated_at: row?.updated_at.toISOString() ?? null,
  };
}

function toError(name: ProjectionName, row: Row): ProjectionError | null {
  if (row.last_error === null) return null;
  const { type, occurred_at, actor } = row;
  const event = type === null || occurred_at === null ? null : { type, occurred_at: occurred_at.toISOString(), actor };
  const { position, collection, field, sqlstate, message, attempts } = row.last_error;
  const next = nextStep(name, row.last_error);
  return { position, event, collection, field, sqlstate, message, attempts, next };
}
