/** Compares the trash list with the log and the catalog. */
import { type End, endsOf } from '../../log/life-ends.js';
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';
import { isThere, shownTime } from '../trash/expressions.js';
import { type KeptDeletion, allKeptDeletions } from '../trash/kept-deletions.js';
import type { TrashEntry } from '../trash/list.js';
import type { Difference } from './difference.js';

/** The members that the list takes from the log. */
const MEMBERS = ['kind', 'collection', 'field', 'batch', 'deleted_at', 'kept_until'] as const;

interface Row extends Pick<TrashEntry, (typeof MEMBERS)[number] | 'position' | 'identity'> {
  there: boolean;
  /** The event that removed it from the trash. */
  ended: number | null;
}

const ENTRIES = `
SELECT t.position::float8 AS position, t.kind, t.collection, t.field, t.identity, t.batch,
  ${shownTime('t.deleted_at')} AS deleted_at, ${shownTime('t.kept_until')} AS kept_until, ${isThere('t')} AS there,
  (SELECT pg_catalog.max(e.position)::float8 FROM ${own.events} e
    WHERE e.subject ->> 'kind'::text = 'trash' AND e.subject ->> 'id'::text = t.position::text) AS ended
  FROM ${own.trash} t ORDER BY t.position`;

/**
 * Returns missing, extra and wrong entries, and entries that cannot be restored. In a replayed log, kept objects
 * exist neither in the database nor in the list, which is correct.
 */
export async function verifyTrash(db: Queryable): Promise<Difference[]> {
  const { rows } = await db.query<Row>(ENTRIES);
  const deletions = new Map((await allKeptDeletions(db)).map((each) => [each.position, each]));
  const early = await db.query<EarlyPurge>(EARLY);
  const listed = new Set(rows.map(({ position }) => position));
  const ends = await endsOf(
    db,
    rows.filter(({ identity }) => IDENTITY.test(identity)).map(({ identity }) => identity),
  );
  return [
    ...rows.flatMap((row) => differencesOf(row, deletions.get(row.position), ends.get(row.identity))),
    ...[...deletions.values()].filter(({ position, there }) => there && !listed.has(position)).map(missing),
    ...early.rows.map(purgedEarly),
  ];
}

/** The format of identities in the fold. */
const IDENTITY = /^[1-9]\d{0,14}(\.[1-9]\d{0,5})?$/;

function differencesOf(row: Row, said: KeptDeletion | undefined, end: End | undefined): Difference[] {
  const { position, kept_until, there, ended } = row;
  if (said === undefined) {
    const expected = ended === null ? null : `gone by position ${ended}`;
    return [{ ...placeOf(row), expected, found: `listed until ${kept_until}` }];
  }
  const names = MEMBERS.filter((member) => row[member] !== said[member]);
  const others = names.map((member) => ({
    ...placeOf(said, member),
    expected: said[member],
    found: row[member],
  }));
  if (end?.position !== position || !end.isOwn)
    others.push({ ...placeOf(said, 'identity'), expected: 'what was deleted', found: row.identity });
  // Uses the names from the log.
  if (there || others.length > 0) return others;
  return [{ ...placeOf(row), expected: `kept until ${kept_until}`, found: null }];
}

interface EarlyPurge extends Pick<Row, 'position' | 'collection' | 'field' | 'kept_until'> {
  /** The position of the purge. */
  purge: number;
}

/** Purges marked as expired although the deletion had not expired. */
const EARLY = `
SELECT e.position::float8 AS purge, d.position::float8 AS position, d.collection, d.field,
       ${shownTime("(d.data ->> 'kept_until'::text)::timestamptz")} AS kept_until
  FROM ${own.events} e CROSS JOIN LATERAL (
    SELECT position, collection, field, data FROM ${own.events} l WHERE l.position = (e.data ->> 'position'::text)::bigint OFFSET 0) d
 WHERE e.subject ->> 'kind'::text = 'trash' AND e.type = 'trash.purged' AND e.data ->> 'expired'::text = 'true'
   AND e.occurred_at < (d.data ->> 'kept_until'::text)::timestamptz
 ORDER BY e.position`;

const purgedEarly = (early: EarlyPurge): Difference => ({
  ...placeOf(early),
  expected: `kept until ${early.kept_until}`,
  found: `purged as expired by position ${early.purge}`,
});

const missing = (said: KeptDeletion): Difference => ({
  ...placeOf(said),
  expected: `listed until ${said.kept_until}`,
  found: null,
});

function placeOf(
  { position, collection, field }: Pick<Row, 'position' | 'collection' | 'field'>,
  member?: string,
): Omit<Difference, 'expected' | 'found'> {
  return {
    where: 'trash',
    collection,
    ...(field !== null && { field }),
    member: `position ${position}${member === undefined ? '' : `, ${member}`}`,
  };
}
