import { columnType } from '../../sql-text/data-types.js';
import type { Dependent, Observed, PlannedEvent, Rule } from '../model.js';
import { hasColumn } from './common.js';

export const neededElsewhere: Rule = {
  code: 'NEEDED_ELSEWHERE',
  level: 'danger',
  title: 'A view or function needs it',
  what: 'A view, a rule, a policy or a function in the database needs what is deleted, changes its type, or is renamed.',
  why: 'PostgreSQL refuses to drop or to change the type of what a view needs. After a rename the view goes on, and still shows the old name.',
  safer:
    'Drop the view, make the change, and make the view again, all by hand; or change the view first, so that it does without.',
  levels: '`danger` where PostgreSQL refuses the change, `note` for a rename.',
  event(planned) {
    const { event, batch } = planned;
    const change = changeOf(planned);
    if (change === undefined) return undefined;
    return batch.dependents(event.collection).flatMap((each): Observed[] => {
      if (change.column !== null && each.column !== change.column) return [];
      return [
        { message: `${change.what}: ${each.kind} ${each.name} needs it${refusal(change, each)}`, ...change.place },
      ];
    });
  },
};

interface Change {
  what: string;
  /** Its name in the database; null: the whole table. */
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

function isRetyped({ event, before, after, formerField }: PlannedEvent): boolean {
  const [old, now] = [before?.fields.get(formerField), after?.fields.get(event.field ?? '')];
  const isUpdate = event.type === 'field.updated' && hasColumn(old) && hasColumn(now);
  return isUpdate && columnType(old.schema) !== columnType(now.schema);
}

const refusal = ({ place }: Change, { kind }: Dependent): string =>
  place.level === 'note'
    ? `, and follows with the old name in what it shows`
    : `, so PostgreSQL refuses it (the ${kind} is no part of the schema)`;
