/**
 * The lives of collections: from the event that made one to the one that deleted it, by all the names it had meanwhile. What
 * comes back from the trash goes on with its life; in between it had no name.
 */
import type { Queryable } from '../postgres/pool.js';
import { own } from '../postgres/own-tables.js';
import type { Identity } from '../schema/model/state.js';

export interface Life {
  identity: Identity;
  /** In order. */
  names: LifeName[];
}

export interface LifeName {
  name: string;
  /** Position of the event that gave the name, and when. */
  from: number;
  since: string;
  /** Of the event that ended it: another name, or the end of the life. null: it has it still. */
  to: number | null;
  until: string | null;
}

interface Row {
  position: number;
  type: 'collection.created' | 'collection.adopted' | 'collection.deleted' | 'collection.renamed';
  collection: string;
  to: string | null;
  /** Of a collection that comes back from the trash. */
  restored: { identity: Identity; name: string } | null;
  occurred_at: Date;
}

const COLUMNS = `position, type, collection, data ->> 'to'::text AS "to", data -> 'restored'::text AS restored, occurred_at`;

/** Few, whatever the log holds. */
const RENAMES = `SELECT ${COLUMNS} FROM ${own.events} WHERE type = 'collection.renamed' AND type IN ('collection.renamed', 'field.renamed') ORDER BY position`;

/** Under another name than it had; few as well. */
const RESTORED = `SELECT ${COLUMNS} FROM ${own.events}
 WHERE subject IS NOT NULL AND subject ->> 'kind'::text = 'trash' AND type = 'collection.created' AND data #>> '{restored,name}'::text[] <> collection`;

const ENDS = `SELECT ${COLUMNS} FROM ${own.events}
 WHERE type IN ('collection.created', 'collection.adopted', 'collection.deleted') AND collection = ANY ($1)
 ORDER BY position`;

/** Every life in which a collection had the name, in order; empty where none ever had it. */
export async function livesOf(db: Queryable, name: string): Promise<Life[]> {
  const changes = await readNameChanges(db);
  const lives = await livesOfNames(db, connected([name], changes.links), changes);
  return lives.filter(({ names }) => names.some((each) => each.name === name));
}

/** The names that collections had in their lives, by identity; none of a collection that never had another name. */
export async function namesInLives(db: Queryable, names: Iterable<string>): Promise<Map<Identity, string[]>> {
  const changes = await readNameChanges(db);
  const changed = new Set(changes.links.flat());
  const asked = [...names].filter((name) => changed.has(name));
  if (asked.length === 0) return new Map();
  const lives = await livesOfNames(db, connected(asked, changes.links), changes);
  return new Map(lives.map((life) => [life.identity, life.names.map(({ name }) => name)]));
}

interface NameChanges {
  renames: readonly Row[];
  links: readonly [string, string][];
}

async function readNameChanges(db: Queryable): Promise<NameChanges> {
  const { rows: renames } = await db.query<Row>(RENAMES);
  const { rows: restored } = await db.query<Row>(RESTORED);
  return { renames, links: [...renames, ...restored].map(linkOf) };
}

/** @param names with all that are linked to them */
async function livesOfNames(db: Queryable, names: ReadonlySet<string>, { renames }: NameChanges): Promise<Life[]> {
  const { rows: ends } = await db.query<Row>(ENDS, [[...names]]);
  return livesIn([...renames, ...ends].sort((a, b) => a.position - b.position));
}

/** @param rows in order */
function livesIn(rows: readonly Row[]): Life[] {
  const lives: Life[] = [];
  const alive = new Map<string, Life>();
  for (const row of rows) {
    if (row.type === 'collection.created' || row.type === 'collection.adopted') {
      const life = beginLife(lives, row);
      alive.set(row.collection, life);
      continue;
    }
    const life = alive.get(row.collection);
    // Of a collection that has nothing to do with the name.
    if (life === undefined) continue;
    end(life, row);
    alive.delete(row.collection);
    if (row.type === 'collection.renamed' && row.to !== null) {
      begin(life, row.to, row);
      alive.set(row.to, life);
    }
  }
  return lives;
}

/** What comes back from the trash goes on with its life. */
function beginLife(lives: Life[], row: Row): Life {
  const identity = row.restored?.identity ?? String(row.position);
  const life = lives.find((each) => each.identity === identity) ?? { identity, names: [] };
  if (life.names.length === 0) lives.push(life);
  begin(life, row.collection, row);
  return life;
}

/** Two names of one collection. */
const linkOf = ({ collection, to, restored }: Row): [string, string] => [
  restored?.name ?? collection,
  to ?? collection,
];

/** All names that collections of the names had, and those that theirs had: too many do no harm. */
function connected(from: Iterable<string>, links: readonly [string, string][]): ReadonlySet<string> {
  const names = new Set(from);
  const linked = new Map<string, string[]>();
  for (const [one, other] of links) {
    linked.set(one, [...(linked.get(one) ?? []), other]);
    linked.set(other, [...(linked.get(other) ?? []), one]);
  }
  // A set that grows while it is walked: every name is reached once.
  for (const name of names) for (const other of linked.get(name) ?? []) names.add(other);
  return names;
}

function begin(life: Life, name: string, { position, occurred_at }: Row): void {
  life.names.push({ name, from: position, since: occurred_at.toISOString(), to: null, until: null });
}

function end({ names }: Life, { position, occurred_at }: Row): void {
  const last = names.at(-1);
  if (last !== undefined) Object.assign(last, { to: position, until: occurred_at.toISOString() });
}
