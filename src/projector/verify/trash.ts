/** The list of the trash, against what the log says of it and what the catalog holds. */
import { type End, endsOf } from '../../log/life-ends.js';
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';
import { isThere, shownTime } from '../trash/expressions.js';
import { type KeptDeletion, allKeptDeletions } from '../trash/kept-deletions.js';
import type { TrashEntry } from '../trash/list.js';
import type { Difference } from './difference.js';

/** What the list takes from the log. */
const MEMBERS = ['kind', 'collection', 'field', 'batch', 'deleted_at', 'kept_until'] as const;

interface Row extends Pick<TrashEntry, (typeof MEMBERS)[number] | 'position' | 'identity'> {
  there: boolean;
  /** The event that took it out of the trash. */
  ended: number | null;
}

const ENTRIES = `
SELECT t.position::float8 AS position, t.kind, t.collection, t.field, t.identity, t.batch,
  ${shownTime('t.deleted_at')} AS deleted_at, ${shownTime('t.kept_until')} AS kept_until, ${isThere('t')} AS there,
  (SELECT pg_catalog.max(e.position)::float8 FROM ${own.events} e
    WHERE e.subject ->> 'kind'::text = 'trash' AND e.subject ->> 'id'::text = t.position::text) AS ended
  FROM ${own.trash} t ORDER BY t.position`;

/**
 * What is not in the list and should be, can't come back, or shouldn't be in it, and what is said of it otherwise than by
 * the log. What a log that was replayed says was kept isn't there, nor in the list, and that is right.
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

/** As the fold gives them. */
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
  // By the names that the log says.
  if (there || others.length > 0) return others;
  return [{ ...placeOf(row), expected: `kept until ${kept_until}`, found: null }];
}

interface EarlyPurge extends Pick<Row, 'position' | 'collection' | 'field' | 'kept_until'> {
  /** Position of the purge. */
  purge: number;
}

/** Purges that say that the time was over, when the deletion says that it was not. */
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
