import { hasColumn } from '../../model/state.js';
import { columnType } from '../../sql-text/data-types.js';
import type { Dependent, Observed, PlannedEvent, Rule } from '../model.js';
import { fieldAfter } from './common.js';

export const neededElsewhere: Rule = {
  code: 'NEEDED_ELSEWHERE',
  level: 'danger',
  title: 'A view or function depends on it',
  what: 'A view, rule, policy or function in the database depends on an object that is deleted, renamed or changes its type.',
  why: 'PostgreSQL does not drop an object that a view depends on, nor change its type. After a rename the view keeps working and keeps the old column name.',
  safer:
    'Drop the view, apply the change and create the view again by hand, or first change the view so that it no longer depends on the object.',
  levels: '`danger` if PostgreSQL rejects the change, `note` for a rename.',
  event(planned) {
    const { event, batch } = planned;
    const change = changeOf(planned);
    if (change === undefined) return undefined;
    const needing = namesOf(batch.dependents(event.collection), change.column);
    if (needing.length === 0) return undefined;
    return { message: `${change.what}: ${whoNeeds(needing)}${after(change, needing.length)}`, ...change.place };
  },
};

/** Names per sentence. */
const NAMED = 6;

/** `view sales_by_store`, each once, because it may depend on several columns of a table. */
function namesOf(dependents: readonly Dependent[], column: string | null): string[] {
  const needing = dependents.filter((each) => column === null || each.column === column);
  return [...new Set(needing.map(({ kind, name }) => `${kind} ${name}`))];
}

function whoNeeds(names: readonly string[]): string {
  const more = names.length - NAMED;
  const shown = more > 0 ? [...names.slice(0, NAMED), `${more} more`] : names;
  const last = shown.at(-1) ?? '';
  return shown.length === 1 ? `${last} needs it` : `${shown.slice(0, -1).join(', ')} and ${last} need it`;
}

interface Change {
  what: string;
  /** Its name in the database. Null for the whole table. */
  column: string | null;
  place: Partial<Observed>;
}

function changeOf(planned: PlannedEvent): Change | undefined {
  const { event, before, formerField } = planned;
  const { collection, field } = event;
  if (event.type === 'collection.deleted') return { what: `drop table ${collection}`, column: null, place: {} };
  if (event.type === 'collection.renamed')
    return { what: `rename table ${collection}`, column: null, place: { level: 'note', collection: event.data.to } };
  if (!hasColumn(before?.fields.get(formerField))) return undefined;
  const ofColumn = { column: formerField, place: {} };
  if (event.type === 'field.deleted') return { what: `drop column ${collection}.${field}`, ...ofColumn };
  if (event.type === 'field.renamed')
    return {
      what: `rename column ${collection}.${field}`,
      ...ofColumn,
      place: { level: 'note', field: event.data.to },
    };
  return isRetyped(planned) ? { what: `alter column ${collection}.${field}`, ...ofColumn } : undefined;
}

function isRetyped(planned: PlannedEvent): boolean {
  const { event, before, formerField } = planned;
  const [old, now] = [before?.fields.get(formerField), fieldAfter(planned, event)];
  const isUpdate = event.type === 'field.updated' && hasColumn(old) && hasColumn(now);
  return isUpdate && columnType(old.schema) !== columnType(now.schema);
}

function after({ place }: Change, count: number): string {
  const isOne = count === 1;
  if (place.level === 'note')
    return `, and ${isOne ? 'follows' : 'follow'} with the old name in what ${isOne ? 'it shows' : 'they show'}`;
  return `, so PostgreSQL refuses it (${isOne ? 'it is' : 'they are'} no part of the schema)`;
}
