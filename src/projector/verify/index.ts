/** Compares the fold, the metadata rows and PostgreSQL's catalog. */
import type pg from 'pg';
import { createTimeSlice, runYielding } from '../../kernel/event-loop.js';
import { sortInSteps } from '../../kernel/lists-and-maps.js';
import {
  type ColumnField,
  hasColumn,
  type CollectionNode,
  type State,
  byName,
  schemasOf,
} from '../../schema/model/state.js';
import type { CatalogTable } from '../catalog/model.js';
import { type Catalog, readCatalog } from '../catalog/read.js';
import { mayDifferInSpelling, compareTable } from './compare-table.js';
import type { Difference } from './difference.js';
import { readColumnSpellings, removeEquivalent } from './equivalent-definitions.js';
import { findRequestsInPreparation } from '../online/copy.js';
import { verifyObjects } from './objects.js';
import { readPendingIndexes } from './pending-indexes.js';
import { findOtherOwners } from './properties.js';
import { type LifetimeEnd, endsOf } from '../../log/lifetimes.js';
import type { Queryable } from '../../postgres/pool.js';
import {
  keptObjectExists,
  shownTime,
  type KeptDeletion,
  allKeptDeletions,
  type TrashEntry,
} from '../../features/trash/rows.js';
import { jsonEqual, type Json, isObject } from '../../kernel/json.js';
import { readAccounts } from '../../log/decisive-events.js';
import { type Accounts, newAccount } from '../../schema/fold/accounts.js';
import type { AccountAccess, IdentityAccess, TokenAccess } from '../../schema/model/service-events.js';
import type { TokenScope } from '../../schema/model/token-scope.js';
import type { ChangeRequest } from '../../schema/change-requests/model.js';
import { foldChangesOf, rowOf } from '../../features/change-requests/rows.js';
import { sql, own } from '../ddl/sql.js';

export type { Difference } from './difference.js';

interface VerifyOptions {
  /** False on an instance that does not manage objects other than tables. It then ignores those in the catalog. */
  objects?: boolean | undefined;
}

export interface Verification {
  ok: boolean;
  /** Ordered by collection. Excludes system tables, unmanaged tables and indexes still to be built. */
  differences: Difference[];
}

/**
 * Compares the fold with the metadata rows and the catalog. `state` must match the position of the database, so call
 * it under the log's lock. In a transaction it leaves nothing behind, but the transaction must be writable:
 * PostgreSQL spells an expression only for a table that has it. Outside one, it opens its own and rolls it back.
 */
export async function verify(
  client: pg.ClientBase,
  state: State,
  schema: string,
  { objects = true }: VerifyOptions = {},
): Promise<Verification> {
  const own = client.getTransactionStatus() === 'I';
  if (own) await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  try {
    const results = [
      ...(await verifyMetadata(client, state)),
      ...(await verifyCatalog(client, state, schema)),
      ...(await verifyObjects(client, state, { schema, inCatalog: objects })),
      ...(await findOtherOwners(client, state, { schema, objects })),
      ...(await verifyTrash(client)),
      ...(await verifyChanges(client, state.position)),
      ...(await verifyAccounts(client)),
    ];
    const differences = await runYielding(sortInSteps(results, (a, b) => byName(a.collection, b.collection)));
    return { ok: differences.length === 0, differences };
  } finally {
    if (own) await client.query('ROLLBACK');
  }
}

/**
 * Compares only the fold with the catalog. Call it inside a transaction.
 * @param catalog if it was already read: the tables of the state and their objects
 */
export async function verifyCatalog(
  client: pg.ClientBase,
  state: State,
  schema: string,
  catalog?: Catalog,
): Promise<Difference[]> {
  const { tables, objects } =
    catalog ??
    (await readCatalog(client, { state, schema, schemas: schemasOf(state, schema) }, [...state.collections.keys()]));
  const isPending = await readPendingIndexes(client);
  const spelled = await readColumnSpellings(client, { state, schema }, await findOtherSpellings(state, tables));
  const living = await findRequestsInPreparation(client);
  const differences: Difference[] = [];
  const slice = createTimeSlice();
  for (const [name, node] of state.collections) {
    if (slice.isOver()) await slice.yield();
    const table = tables.get(name);
    const presence = comparePresence(node, table);
    if (presence !== null) differences.push(presence);
    else if (table !== undefined)
      differences.push(
        ...compareTable(node, table, { state, schema, isPending, spelled, objects }),
        ...orphans(table, living),
      );
  }
  return removeEquivalent(client, { state, schema }, differences);
}

/** Finds objects that were created for an ended change request and that no cleanup will remove. */
const orphans = ({ name: collection, prepared }: CatalogTable, living: ReadonlySet<string>): Difference[] =>
  prepared
    .filter(({ request }) => !living.has(request))
    .map(({ kind, name, request }) => ({
      where: 'catalog',
      collection,
      member: `${kind} ${name}`,
      expected: null,
      found: { prepared_for: request },
    }));

/** Returns the difference if the table is missing or superfluous. Every collection except a folder has a table. */
function comparePresence({ collection }: CollectionNode, table: CatalogTable | undefined): Difference | null {
  const [expected, there] = [collection.schema !== null, table !== undefined];
  if (expected === there) return null;
  return {
    where: 'catalog',
    collection: collection.collection,
    member: 'table',
    expected: expected ? 'a table' : null,
    found: there ? 'a table' : null,
  };
}

/** Returns existing columns that may differ only in spelling. */
async function findOtherSpellings(state: State, tables: ReadonlyMap<string, CatalogTable>): Promise<ColumnField[]> {
  const columns: ColumnField[] = [];
  const slice = createTimeSlice();
  for (const [collection, { fields }] of state.collections) {
    if (slice.isOver()) await slice.yield();
    for (const column of tables.get(collection)?.columns ?? []) {
      const field = fields.get(column.name);
      if (hasColumn(field) && mayDifferInSpelling(field, column)) columns.push(field);
    }
  }
  return columns;
}

/* Compares the service's rows with the log: accounts, change requests, metadata and the trash list. */

/* Compares users, their API tokens and their identities with the log. */

/**
 * Returns the accounts that differ from the log at its head. The log contains no e-mail addresses, names or secrets.
 * A database without users was restored from a log: its next start creates an admin and records the others as
 * deleted.
 */
async function verifyAccounts(db: Queryable): Promise<Difference[]> {
  const accounts = await readStoredAccounts(db);
  // The time is read after the rows, so a token whose row was deleted by then has expired.
  const { rows } = await db.query<{ now: Date }>('SELECT pg_catalog.clock_timestamp() AS now');
  const now = rows[0]?.now ?? new Date();
  const stored = flattenAccounts(accounts, now);
  if (stored.size === 0) return [];
  const expected = flattenAccounts(await readAccounts(db), now);
  return [...new Set([...expected.keys(), ...stored.keys()])].flatMap((member) => {
    const [one = null, other = null] = [expected.get(member), stored.get(member)];
    return jsonEqual(one, other) ? [] : [{ where: 'accounts', collection: '', member, expected: one, found: other }];
  });
}

/** Leaves out expired tokens of trust rules, because their rows are deleted without an event. */
function flattenAccounts(accounts: Accounts, now: Date): Map<string, Json> {
  const all = new Map<string, Json>();
  for (const [user, { tokens, identities, ...access }] of accounts) {
    all.set(`user ${user}`, access);
    for (const [token, of] of tokens) {
      const isDeleted = of.rule !== undefined && of.expires_at !== null && new Date(of.expires_at) <= now;
      if (!isDeleted) all.set(`API token ${token} of user ${user}`, { ...of });
    }
    for (const [identity, of] of identities) all.set(`identity ${identity} of user ${user}`, { ...of });
  }
  return all;
}

async function readStoredAccounts(db: Queryable): Promise<Accounts> {
  const users = await db.query<{ id: string } & AccountAccess>(
    `SELECT id, role, status, password_set_by FROM ${own.users} ORDER BY created_at, id`,
  );
  const accounts: Accounts = new Map(users.rows.map(({ id, ...access }) => [id, newAccount(access)]));
  const tokens = await db.query<StoredToken>(
    `SELECT id, user_id, issued_by, expires_at, scope, rule FROM ${own.tokens} ORDER BY created_at, id`,
  );
  for (const { id, user_id: user, issued_by, expires_at, scope, rule } of tokens.rows) {
    const access = {
      issued_by,
      expires_at: expires_at?.toISOString() ?? null,
      ...(scope !== null && { scope }),
      ...(rule !== null && { rule }),
    };
    accounts.get(user)?.tokens.set(id, access);
  }
  const identities = await db.query<{ id: string; user_id: string } & IdentityAccess>(
    `SELECT id, user_id, issuer, issued_by FROM ${own.identities} ORDER BY created_at, id`,
  );
  for (const { id, user_id: user, ...access } of identities.rows) accounts.get(user)?.identities.set(id, access);
  return accounts;
}

interface StoredToken extends Pick<TokenAccess, 'issued_by'> {
  id: string;
  user_id: string;
  expires_at: Date | null;
  scope: TokenScope | null;
  rule: string | null;
}

/* Compares the rows of change requests with the log. */

const PAGE = 1_000;

/** Returns the rows that differ from the log up to a position. */
export async function verifyChanges(db: Queryable, position: number): Promise<Difference[]> {
  const expected = await foldChangesOf(db, { after: 0, upTo: position });
  const differences: Difference[] = [];
  const slice = createTimeSlice();
  const compare = async (id: string, one?: ChangeRequest, other?: StoredChange): Promise<void> => {
    if (slice.isOver()) await slice.yield();
    if (!jsonEqual(one === undefined ? null : rowOf(one), other ?? null))
      differences.push(differenceOf(id, one, other));
  };
  for await (const row of readStoredChanges(db)) {
    await compare(row.id, expected.get(row.id), row);
    expected.delete(row.id);
  }
  for (const [id, request] of expected) await compare(id, request);
  return differences;
}

type StoredChange = ReturnType<typeof rowOf>;

const STORED = `SELECT id, state, collections, held, opened_position, request FROM ${own.changes} WHERE $1::uuid IS NULL OR id > $1 ORDER BY id LIMIT ${PAGE}`;

/** Yields all rows, in pages. */
async function* readStoredChanges(db: Queryable): AsyncGenerator<StoredChange, void, undefined> {
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

/* Compares the fold with the metadata rows. */

type Document = Record<string, Json>;

const COLLECTIONS = sql`SELECT collection, meta, schema FROM ${own.collections}`;
const FIELDS = sql`SELECT collection, field, type, meta, schema FROM ${own.fields}`;
const RELATIONS = sql`SELECT pg_catalog.to_jsonb(id) AS id, many_collection, many_field, one_collection, one_field, one_collection_field,
  one_allowed_collections, junction_field, sort_field, one_deselect_action, schema FROM ${own.relations}`;

/** A kind of row: the member that names a missing or extra one, and its key columns. */
interface Kind {
  member: 'collection' | 'field' | 'relation';
  key: readonly [collection: string, field?: string];
}

const COLLECTION: Kind = { member: 'collection', key: ['collection'] };
const FIELD: Kind = { member: 'field', key: ['collection', 'field'] };
const RELATION: Kind = { member: 'relation', key: ['many_collection', 'many_field'] };

function placeOf(
  { key: [collection, field] }: Kind,
  row: Document,
): Pick<Difference, 'where' | 'collection' | 'field'> {
  const location = { where: 'metadata', collection: row[collection] as string } as const;
  return field === undefined ? location : { ...location, field: row[field] as string };
}

/** Returns every differing member, and every extra or missing row. */
async function verifyMetadata(client: pg.ClientBase, state: State): Promise<Difference[]> {
  const nodes = [...state.collections.values()];
  const compared = async (kind: Kind, rowsOf: ListRows, text: string): Promise<Difference[]> => {
    const { rows } = await client.query<Document>(text);
    return compareRows(kind, { nodes, rowsOf }, rows);
  };
  return [
    ...(await compared(COLLECTION, collectionOf, COLLECTIONS)),
    ...(await compared(FIELD, fieldsOf, FIELDS)),
    ...(await compared(RELATION, relationsOf, RELATIONS)),
  ];
}

type ListRows = (node: CollectionNode) => Iterable<object>;

interface Expected {
  nodes: readonly CollectionNode[];
  rowsOf: ListRows;
}

const collectionOf = ({ collection }: CollectionNode): object[] => [collection];
const fieldsOf = ({ fields }: CollectionNode): Iterable<object> => fields.values();
const relationsOf = ({ relations }: CollectionNode): Iterable<object> => relations.values();

async function compareRows(kind: Kind, { nodes, rowsOf }: Expected, storedRows: readonly Document[]) {
  const keyOf = (row: Document): string => kind.key.map((column) => row[column as string] as string).join('\0');
  const slice = createTimeSlice();
  const rows = new Map<string, Document>();
  for (const row of storedRows) {
    if (slice.isOver()) await slice.yield();
    rows.set(keyOf(row), row);
  }
  const differences: Difference[] = [];
  for (const node of nodes) {
    // Most nodes have no row of some kind, but iterating over them also takes time.
    if (slice.isOver()) await slice.yield();
    for (const document of rowsOf(node) as Iterable<Document>) {
      if (slice.isOver()) await slice.yield();
      const key = keyOf(document);
      const row = rows.get(key);
      rows.delete(key);
      const location = placeOf(kind, document);
      if (row === undefined) differences.push({ ...location, member: kind.member, expected: 'a row', found: null });
      else differences.push(...compareMembers(document, row).map((member) => ({ ...location, ...member })));
    }
  }
  // Most rows are equal, so only the differences are sorted, here by field. The caller sorts by collection.
  const ordered = await runYielding(
    sortInSteps(differences, (a, b) => byName(a.field ?? '', b.field ?? '')),
    slice,
  );
  for (const row of rows.values()) {
    if (slice.isOver()) await slice.yield();
    ordered.push({ ...placeOf(kind, row), member: kind.member, expected: null, found: 'a row' });
  }
  return ordered;
}

type Member = Pick<Difference, 'member' | 'expected' | 'found'>;

/**
 * Returns members that differ. It goes one level into meta and schema, so that a difference names the member instead of
 * the document.
 */
function compareMembers(expected: Document, actual: Document, prefix = ''): Member[] {
  const members = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  return [...members].flatMap((name) => {
    const [a, b] = [expected[name] ?? null, actual[name] ?? null];
    if (jsonEqual(a, b)) return a === null ? missingMember(expected, actual, { name, prefix }) : [];
    const inner = prefix === '' && isObject(a) && isObject(b);
    return inner ? compareMembers(a, b, `${name}.`) : [{ member: prefix + name, expected: a, found: b }];
  });
}

/**
 * Returns the difference if only one document has the member. Null differs from a missing member, because readers of
 * the rows may test for it.
 */
function missingMember(
  expected: Document,
  actual: Document,
  { name, prefix }: { name: string; prefix: string },
): Member[] {
  const [one, other] = [expected, actual].map((document) => (document[name] === undefined ? null : 'a member'));
  return one === other ? [] : [{ member: prefix + name, expected: one ?? null, found: other ?? null }];
}

/* Compares the trash list with the log and the catalog. */

/** The members that the list takes from the log. */
const MEMBERS = ['kind', 'collection', 'field', 'batch', 'deleted_at', 'kept_until'] as const;

interface Row extends Pick<TrashEntry, (typeof MEMBERS)[number] | 'position' | 'identity'> {
  there: boolean;
  /** The event that removed the object from the trash. */
  ended: number | null;
}

const ENTRIES = `
SELECT t.position::float8 AS position, t.kind, t.collection, t.field, t.identity, t.batch,
  ${shownTime('t.deleted_at')} AS deleted_at, ${shownTime('t.kept_until')} AS kept_until, ${keptObjectExists('t')} AS there,
  (SELECT pg_catalog.max(e.position)::float8 FROM ${own.events} e
    WHERE e.subject ->> 'kind'::text = 'trash' AND e.subject ->> 'id'::text = t.position::text) AS ended
  FROM ${own.trash} t ORDER BY t.position`;

/**
 * Returns missing, extra and wrong entries, and entries that cannot be restored. In a replayed log, kept objects
 * exist neither in the database nor in the list, which is correct.
 */
async function verifyTrash(db: Queryable): Promise<Difference[]> {
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

/** Matches identities of the fold. */
const IDENTITY = /^[1-9]\d{0,14}(\.[1-9]\d{0,5})?$/;

function differencesOf(row: Row, deletion: KeptDeletion | undefined, end: LifetimeEnd | undefined): Difference[] {
  const { position, kept_until, there, ended } = row;
  if (deletion === undefined) {
    const expected = ended === null ? null : `removed by position ${ended}`;
    return [{ ...trashPlaceOf(row), expected, found: `listed until ${kept_until}` }];
  }
  const names = MEMBERS.filter((member) => row[member] !== deletion[member]);
  const others = names.map((member) => ({
    ...trashPlaceOf(deletion, member),
    expected: deletion[member],
    found: row[member],
  }));
  if (end?.position !== position || !end.isOwn)
    others.push({ ...trashPlaceOf(deletion, 'identity'), expected: 'what was deleted', found: row.identity });
  // The differences in `others` name the object as the log does.
  if (there || others.length > 0) return others;
  return [{ ...trashPlaceOf(row), expected: `kept until ${kept_until}`, found: null }];
}

interface EarlyPurge extends Pick<Row, 'position' | 'collection' | 'field' | 'kept_until'> {
  /** The position of the purge. */
  purge: number;
}

/** Selects purges marked as expired although the deletion had not expired. */
const EARLY = `
SELECT e.position::float8 AS purge, d.position::float8 AS position, d.collection, d.field,
       ${shownTime("(d.data ->> 'kept_until'::text)::timestamptz")} AS kept_until
  FROM ${own.events} e CROSS JOIN LATERAL (
    SELECT position, collection, field, data FROM ${own.events} l WHERE l.position = (e.data ->> 'position'::text)::bigint OFFSET 0) d
 WHERE e.subject ->> 'kind'::text = 'trash' AND e.type = 'trash.purged' AND e.data ->> 'expired'::text = 'true'
   AND e.occurred_at < (d.data ->> 'kept_until'::text)::timestamptz
 ORDER BY e.position`;

const purgedEarly = (early: EarlyPurge): Difference => ({
  ...trashPlaceOf(early),
  expected: `kept until ${early.kept_until}`,
  found: `purged as expired by position ${early.purge}`,
});

const missing = (deletion: KeptDeletion): Difference => ({
  ...trashPlaceOf(deletion),
  expected: `listed until ${deletion.kept_until}`,
  found: null,
});

function trashPlaceOf(
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
