/** Compares the rows of change requests with the log. */
import { createTimeSlice } from '../../kernel/event-loop.js';
import { jsonEqual } from '../../kernel/json.js';
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';
import type { ChangeRequest } from '../../schema/change-requests/model.js';
import { foldChangesOf } from '../change-requests/rebuild.js';
import { rowOf } from '../change-requests/rows.js';
import type { Difference } from './difference.js';

const PAGE = 1_000;

/** The rows that differ from the log up to a position. */
export async function verifyChanges(db: Queryable, position: number): Promise<Difference[]> {
  const expected = await foldChangesOf(db, { after: 0, upTo: position });
  const differences: Difference[] = [];
  const slice = createTimeSlice();
  const compare = async (id: string, one?: ChangeRequest, other?: StoredChange): Promise<void> => {
    if (slice.isOver()) await slice.yield();
    if (!jsonEqual(one === undefined ? null : rowOf(one), other ?? null))
      differences.push(differenceOf(id, one, other));
  };
  for await (const row of storedChanges(db)) {
    await compare(row.id, expected.get(row.id), row);
    expected.delete(row.id);
  }
  for (const [id, request] of expected) await compare(id, request);
  return differences;
}

type StoredChange = ReturnType<typeof rowOf>;

const STORED = `SELECT id, state, collections, held, opened_position, request FROM ${own.changes} WHERE $1::uuid IS NULL OR id > $1 ORDER BY id LIMIT ${PAGE}`;

/** All rows, in pages. */
async function* storedChanges(db: Queryable): AsyncGenerator<StoredChange, void, undefined> {
  for (let last: string | null | undefined = null; last !== undefined;) {
    const { rows }: { rows: StoredChange[] } = await db.query<StoredChange>(STORED, [last]);
    yield* rows;
    last = rows.length < PAGE ? undefined : rows.at(-1)?.id;
  }
}

function differenceOf(id: string, one: ChangeRequest | undefined, other: StoredChange | undefined): Difference {
  const [collection = ''] = (one ?? other)?.collections ?? [];
  const states = { expected: one?.state ?? null, found: other?.state ?? null };
  return { where: 'changes', collection, member: `change request ${id}`, ...states };
}
