/**
 * Sends the objects that a batch deletes to the trash. Deciding is pure and knows neither the clock nor the database.
 * So this adds the retention time to the events within the command's transaction.
 */
import { isAdopted } from '../../schema/model/events.js';
import type pg from 'pg';
import type { Problem } from '../../kernel/problem.js';
import type { Warning } from '../../kernel/warning.js';
import {
  type TrashTable,
  type TrashFacts,
  type TrashGlance,
  glanceAtTrashFacts,
  readTrashFacts,
} from '../../projector/trash/facts.js';
import type { Queryable } from '../../postgres/pool.js';
import type { KeptTable, LogEvent } from '../../schema/model/events.js';
import { type CollectionNode, type State, extrasOf, isFolder } from '../../schema/model/state.js';
import { type KeepValues, deletesField, keepValues, whyValuesAreLost } from './keep-values.js';
import type { Keep, PipelineOptions, RequestContext } from '../types.js';

export interface Keeping {
  state: State;
  events: readonly LogEvent[];
  request: Pick<RequestContext, 'purge' | 'revise' | 'unprepared' | 'foresee'>;
  waits: KeepValues['waits'];
  options: Pick<PipelineOptions, 'keep' | 'place'>;
  glance: TrashGlance;
}

export type Kept =
  | {
      kind: 'kept';
      /** The events with their retention times. Events without one drop their objects at once. */
      events: LogEvent[];
      /** Warnings for the plan. */
      warnings: Warning[];
    }
  | { kind: 'refused'; problems: Problem[] };

/** Codes of its warnings. */
export const NOTICED_IN_TABLES: ReadonlySet<string> = new Set(['DATA_NOT_KEPT', 'LEAVES_PUBLICATION']);

/** Runs no query if nothing is deleted or nothing is to be kept. */
export async function keepDeleted(client: pg.ClientBase, keeping: Keeping): Promise<Kept> {
  const { state, events, request, waits, options, glance } = keeping;
  const tables = new Map(events.flatMap((event) => tableDeletedBy(state, event)));
  const keeps = options.keep.deleted > 0;
  const deletesFields = events.some(deletesField);
  const asTheyAre: Kept = { kind: 'kept', events: [...events], warnings: [] };
  if (request.purge === true || (!deletesFields && (tables.size === 0 || !keeps))) return asTheyAre;
  const { schema } = options.place;
  const copyRows = isPrepared(request) ? null : options.keep.copyRows;
  const deleted = { state, events, schema, waits, copyRows };
  const without = async (warnings: Warning[]): Promise<Kept> => {
    const values = await keepValues(client, { ...deleted, keeps: false });
    return 'problems' in values ? { kind: 'refused', problems: values.problems } : { ...asTheyAre, warnings };
  };
  if (!keeps) return without([]);
  const facts = await readTrashFacts(client, { schema, tables: [...tables.keys()], glance });
  if (!facts.mayCreateSchemas) return without([...[...tables.keys()].map(notKept), ...fieldsNotKept(events)]);
  const problems = [...tables.keys()].flatMap((name) => unkeepable(name, facts.tables.get(name)));
  if (problems.length > 0) return { kind: 'refused', problems };
  const values = await keepValues(client, { ...deleted, keeps });
  if ('problems' in values) return { kind: 'refused', problems: values.problems };
  const kept_until = new Date(facts.now.getTime() + options.keep.deleted).toISOString();
  const told = events.map((event, index): LogEvent => {
    if (event.type === 'field.deleted' && values.kept.has(index))
      return { ...event, data: { ...event.data, kept_until } };
    if (event.type !== 'collection.deleted') return event;
    const [node, table] = [tables.get(event.collection), facts.tables.get(event.collection)];
    if (node === undefined || table === undefined) return event;
    return { ...event, data: { ...event.data, ...keptTable(node, table, kept_until) } };
  });
  return { kind: 'kept', events: told, warnings: [...tableWarnings(tables.keys(), facts), ...values.warnings] };
}

/**
 * Why the trash cannot keep what a plan deletes, by the indexes of the events. Nothing is locked, so the answer holds
 * for the tables as they are now.
 */
export async function whyNotKept(
  db: Queryable,
  { state, events, schema, keep, online, purge }: Deleting,
): Promise<ReadonlyMap<number, string>> {
  const all = (why: string) => new Map(events.map((_, index) => [index, why]));
  if (purge) return all('the change asks for purge');
  if (keep.deleted === 0) return all('this service keeps nothing in the trash (KEEP_DELETED)');
  const tables = [...new Set(events.flatMap((event) => tableDeletedBy(state, event).map(([name]) => name)))];
  const facts = await glanceAtTrashFacts(db, { schema, tables });
  if (!facts.mayCreateSchemas) return all(MAY_NOT_CREATE);
  const copyRows = online ? null : keep.copyRows;
  const lost = await whyValuesAreLost(db, { state, events, schema, copyRows });
  for (const [index, event] of events.entries()) {
    if (event.type !== 'collection.deleted') continue;
    const why = tableDeletedBy(state, event).length === 0 ? 'it has no table' : whyTableIsLost(facts, event.collection);
    if (why !== undefined) lost.set(index, why);
  }
  return lost;
}

interface Deleting {
  state: State;
  events: readonly LogEvent[];
  schema: string;
  keep: Keep;
  online: boolean;
  purge: boolean;
}

function whyTableIsLost({ tables }: TrashFacts, collection: string): string | undefined {
  const table = tables.get(collection);
  return table === undefined ? NO_TABLE : whyUnkeepable(table);
}

/** An online change copies values beforehand, however many there are. */
const isPrepared = ({ revise, unprepared, foresee }: Keeping['request']): boolean =>
  (revise !== undefined && unprepared !== true) || foresee !== undefined;

/** Returns the table of a collection that the event deletes. */
function tableDeletedBy({ collections }: State, event: LogEvent): [string, CollectionNode][] {
  if (event.type !== 'collection.deleted' || isAdopted(event)) return [];
  const node = collections.get(event.collection);
  return node === undefined || isFolder(node) ? [] : [[event.collection, node]];
}

function keptTable(node: CollectionNode, { publications, foreignKeys }: TrashTable, kept_until: string): KeptTable {
  const managed = new Set([
    ...[...node.relations.values()].map(({ schema }) => schema?.constraint_name),
    ...(extrasOf(node).constraints ?? []).map(({ name }) => name),
  ]);
  const byHand = foreignKeys.filter(({ name }) => !managed.has(name));
  return {
    kept_until,
    ...(publications.length > 0 && { publications: publications.map(({ name }) => name) }),
    ...(byHand.length > 0 && { foreign_keys: byHand }),
  };
}

const PURGE = 'With "purge" it is dropped at once.';

/** Objects that the role may drop but not move. A missing table has nothing to keep. */
function unkeepable(collection: string, facts: TrashTable | undefined): Problem[] {
  const why = facts && whyUnkeepable(facts);
  if (why === undefined) return [];
  const message = `The table ${JSON.stringify(collection)} can't be kept in the trash: ${why}. ${PURGE}`;
  return [{ code: 'IN_USE', message, collection }];
}

/** Why the account may drop the table, but not move it. */
function whyUnkeepable({ owned, publications, inherits }: TrashTable): string | undefined {
  if (!owned) return "the service's account does not own it";
  const foreign = publications.find((each) => !each.owned);
  if (foreign !== undefined)
    return `it is in the publication ${JSON.stringify(foreign.name)}, which the service's account does not own`;
  return inherits === null ? undefined : `it inherits from ${inherits}, whose queries would still return its rows`;
}

const MAY_NOT_CREATE = "the service's account may not create schemas in this database (GRANT CREATE ON DATABASE)";

const NO_SCHEMAS = `nothing is kept, because ${MAY_NOT_CREATE}`;

const NO_TABLE = 'there is no such table: it was dropped or renamed by hand';

const notKept = (collection: string): Warning => ({
  code: 'DATA_NOT_KEPT',
  collection,
  message: `drop table ${collection}: ${NO_SCHEMAS}`,
});

const fieldsNotKept = (events: readonly LogEvent[]): Warning[] =>
  events.flatMap((event) => {
    const { collection, field } = event;
    if (!deletesField(event) || collection === null || field === null) return [];
    return [
      { code: 'DATA_NOT_KEPT', collection, field, message: `delete field ${collection}.${field}: ${NO_SCHEMAS}` },
    ];
  });

const notThere = (collection: string): Warning => ({
  code: 'DATA_NOT_KEPT',
  collection,
  message: `drop table ${collection}: nothing is kept, because ${NO_TABLE}`,
});

function tableWarnings(names: Iterable<string>, { tables }: TrashFacts): Warning[] {
  return [...names].flatMap((collection) => {
    const facts = tables.get(collection);
    if (facts === undefined) return [notThere(collection)];
    return facts.publications.map(({ name }) => ({
      code: 'LEAVES_PUBLICATION',
      collection,
      message: `keep table ${collection} in the trash: it leaves the publication ${JSON.stringify(name)}, also when it is restored`,
    }));
  });
}
