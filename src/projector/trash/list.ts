import type { Problem } from '../../kernel/problem.js';
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';
import { isThere, shownTime } from './expressions.js';

export interface TrashEntry {
  /** The position of the event that deleted it. */
  position: number;
  kind: 'collection' | 'field';
  /** The names before the deletion; `field` is null for a collection. */
  collection: string;
  field: string | null;
  identity: string;
  batch: string;
  deleted_at: string;
  /** ISO 8601. After this time it may be purged. */
  kept_until: string;
  /** PostgreSQL's estimate at the deletion; null without statistics. */
  rows: number | null;
  /** Size on disk at the deletion. */
  bytes: number | null;
  deleted_by: { id: string; name: string } | null;
  /** Publications that included the table. */
  publications: string[];
  /** Foreign keys of the table that were created by hand. `definition`: from pg_get_constraintdef. */
  foreign_keys: { name: string; definition: string }[];
}

const COLUMNS = `t.position::float8 AS position, t.kind, t.collection, t.field, t.identity, t.batch,
       ${shownTime('t.deleted_at')} AS deleted_at, ${shownTime('t.kept_until')} AS kept_until,
       t.rows::float8 AS rows, t.bytes::float8 AS bytes`;

const SELECT = `
SELECT ${COLUMNS}, e.actor AS deleted_by,
       coalesce(e.data -> 'publications'::text, '[]') AS publications, coalesce(e.data -> 'foreign_keys'::text, '[]') AS foreign_keys
  FROM ${own.trash} t LEFT JOIN LATERAL (SELECT actor, data FROM ${own.events} l WHERE l.position = t.position OFFSET 0) e ON true`;

export interface Page {
  offset: number;
  limit: number;
}

/** Newest first. */
export async function readTrash(db: Queryable, { offset, limit }: Page): Promise<TrashEntry[]> {
  const page = `${SELECT} ORDER BY t.position DESC LIMIT $1 OFFSET $2`;
  return (await db.query<TrashEntry>(page, [limit, offset])).rows;
}

/** Counts tables and columns, including expired ones that are not purged yet. */
export async function countTrash(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${own.trash}`);
  return rows[0]?.count ?? 0;
}

/**
 * @param position of the deletion
 * @returns undefined if the trash does not contain it
 */
export async function findInTrash(db: Queryable, position: number): Promise<TrashEntry | undefined> {
  return (await db.query<TrashEntry>(`${SELECT} WHERE t.position = $1`, [position])).rows[0];
}

/** By identity: the trash never contains an object twice. `there`: nobody has dropped it by hand. */
export async function findIdentities(
  db: Queryable,
  identities: readonly string[],
): Promise<(Omit<TrashEntry, 'deleted_by' | 'publications' | 'foreign_keys'> & { there: boolean })[]> {
  if (identities.length === 0) return [];
  const asked = `SELECT ${COLUMNS}, ${isThere('t')} AS there
    FROM ${own.trash} t WHERE t.identity = ANY ($1)`;
  return (await db.query(asked, [identities])).rows;
}

const DUE = 'kept_until <= clock_timestamp() AND position <> ALL ($1::bigint[])';

/** The entry that expired first by the database's clock, or none. */
export async function findExpired(db: Queryable, except: readonly number[]): Promise<TrashEntry[]> {
  const first = `SELECT position FROM ${own.trash} WHERE ${DUE} ORDER BY kept_until, position LIMIT 1`;
  return (await db.query<TrashEntry>(`${SELECT} WHERE t.position = (${first})`, [except])).rows;
}

/** Milliseconds until the next entry expires, by the database's clock; null if there is none. */
export async function untilNextExpiry(db: Queryable, except: readonly number[]): Promise<number | null> {
  const { rows } = await db.query<{ wait: number | null }>(
    `SELECT (extract(epoch FROM pg_catalog.min(kept_until) - clock_timestamp()) * 1000::numeric)::float8 AS wait
       FROM ${own.trash} WHERE position <> ALL ($1::bigint[])`,
    [except],
  );
  return rows[0]?.wait ?? null;
}

interface Became {
  type: string;
  position: number;
  at: string;
}

const BECAME = `
SELECT e.type, e.position::float8 AS position, ${shownTime('e.occurred_at')} AS at FROM ${own.events} e
 WHERE e.subject ->> 'kind'::text = 'trash' AND e.subject ->> 'id'::text = $1 ORDER BY e.position DESC LIMIT 1`;

/** Explains why the trash has no entry for a position. */
export async function notInTrash(db: Queryable, position: number): Promise<Problem> {
  const { rows } = await db.query<Became>(BECAME, [String(position)]);
  const [became] = rows;
  const what = `There is nothing of position ${position} in the trash`;
  if (became === undefined) return { code: 'NOT_FOUND', message: `${what}.` };
  const purged = became.type === 'trash.purged';
  const message = `${what}: it was ${purged ? 'purged' : 'restored'} at ${became.at}, by position ${became.position}.`;
  const details = { [purged ? 'purged_at' : 'restored_at']: became.at, by_position: became.position };
  return { code: 'NOT_FOUND', message, details };
}

/** Checks whether the object of an entry exists. */
export async function isKept(db: Queryable, { position, field, collection }: TrashEntry): Promise<boolean> {
  const { rows } = await db.query<{ there: boolean }>(
    `SELECT ${isThere('t')} AS there FROM (SELECT $1::bigint AS position, $2::text AS field, $3::text AS collection) t`,
    [position, field, collection],
  );
  return rows[0]?.there === true;
}
