/**
 * Sends the objects that a batch deletes to the trash. Deciding is pure and knows neither the clock nor the database.
 * So this adds the retention time to the events within the command's transaction.
 */
import { isAdopted } from '../../schema/model/events.js';
import type pg from 'pg';
import type { Problem } from '../../kernel/problem.js';
import type { Warning } from '../../kernel/warning.js';
import { type TrashTable, type TrashFacts, type TrashGlance, readTrashFacts } from '../../projector/trash/facts.js';
import type { KeptTable, LogEvent } from '../../schema/model/events.js';
import { type CollectionNode, type State, extrasOf, isFolder } from '../../schema/model/state.js';
import { type KeepValues, deletesField, keepValues } from './keep-values.js';
import type { PipelineOptions, RequestContext } from '../types.js';

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
  const isKept = options.keep.deleted > 0 && request.purge !== true;
  if (!isKept || (tables.size === 0 && !events.some(deletesField))) {
    return { kind: 'kept', events: [...events], warnings: [] };
  }
  const { schema } = options.place;
  const facts = await readTrashFacts(client, { schema, tables: [...tables.keys()], glance });
  if (!facts.mayCreateSchemas)
    return {
      kind: 'kept',
      events: [...events],
      warnings: [...[...tables.keys()].map(notKept), ...fieldsNotKept(events)],
    };
  const problems = [...tables.keys()].flatMap((name) => unkeepable(name, facts.tables.get(name)));
  if (problems.length > 0) return { kind: 'refused', problems };
  const copyRows = isPrepared(request) ? null : options.keep.copyRows;
  const values = await keepValues(client, { state, events, schema, waits, copyRows });
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
  if (facts === undefined) return [];
  const { owned, publications, inherits } = facts;
  const [foreign] = publications.filter((each) => !each.owned);
  const why = !owned
    ? "the service's account does not own it"
    : foreign !== undefined
      ? `it is in the publication ${JSON.stringify(foreign.name)}, which the service's account does not own`
      : inherits === null
        ? undefined
        : `it inherits from ${inherits}, whose queries would still return its rows`;
  if (why === undefined) return [];
  const message = `The table ${JSON.stringify(collection)} can't be kept in the trash: ${why}. ${PURGE}`;
  return [{ code: 'IN_USE', message, collection }];
}

const NO_SCHEMAS =
  "nothing is kept, because the service's account may not create schemas in this database (GRANT CREATE ON DATABASE)";

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
  message: `drop table ${collection}: nothing is kept, because there is no such table: it was dropped or renamed by hand`,
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
