import { hasColumn } from '../../model/state.js';
import { levelByUse } from '../levels.js';
import { isRename } from '../../model/events.js';
import type { Observed, PlannedEvent, Rule, TableStatistics } from '../model.js';

export const breaksClients: Rule = {
  code: 'BREAKS_CLIENTS',
  level: 'warn',
  title: 'Breaks existing clients',
  what: 'A table or column is renamed, or is dropped while it is in use.',
  why: 'Applications that use the old name fail as soon as the change is applied, including those that only read.',
  safer:
    'First deploy applications that do not need it. For a rename, add the new name beside the old one, write both, and delete the old one later.',
  levels:
    '`note` if the statistics count no use of the table, else `warn`. Dropped objects are reported only if they count some use; `LOSES_DATA` reports their data.',
  example: { unsafe: 'POST /fields/articles/title/rename {"to": "headline"}' },
  aliases: {
    squawk: ['renaming-column', 'renaming-table', 'ban-drop-column', 'ban-drop-table'],
    strong_migrations: ['rename_column', 'rename_table', 'remove_column'],
    atlas: ['BC101', 'BC102'],
  },
  event(planned) {
    const what = whatOf(planned);
    const statistics = planned.batch.statistics(planned.event.collection);
    if (what === undefined || (!isRename(planned.event) && (statistics?.uses ?? 0) < USED)) return undefined;
    const message = `${what}: applications that use it will fail${useText(statistics)}`;
    return { message, level: levelByUse(statistics), statistics: statistics ?? null, ...placeAfter(planned) };
  },
};

function whatOf(planned: PlannedEvent): string | undefined {
  const { event } = planned;
  const verb = VERBS.get(event.type);
  if (verb === undefined || planned.batch.isNew(event.collection) || !isThere(planned)) return undefined;
  const what = event.field === null ? `table ${event.collection}` : `column ${event.collection}.${event.field}`;
  return 'to' in event.data ? `${verb} ${what} to ${event.data.to}` : `${verb} ${what}`;
}

const VERBS: ReadonlyMap<string, string> = new Map([
  ['collection.deleted', 'drop'],
  ['collection.renamed', 'rename'],
  ['field.deleted', 'drop'],
  ['field.renamed', 'rename'],
]);

/** Scans and written rows that distinguish applications from an administrator's manual queries. */
const USED = 100;

/** True for a table or column, false for metadata only. */
const isThere = ({ event, before, formerField }: PlannedEvent): boolean =>
  event.field === null ? before?.collection.schema != null : hasColumn(before?.fields.get(formerField));

/** A diff contains renamed objects under their new names. */
function placeAfter({ event }: PlannedEvent): Partial<Observed> {
  if (event.type === 'collection.renamed') return { collection: event.data.to };
  return event.type === 'field.renamed' ? { field: event.data.to } : {};
}

function useText(statistics: TableStatistics | undefined): string {
  const uses = statistics?.uses ?? null;
  if (uses === null) return '';
  return uses === 0 ? ' (the statistics count no use of its table)' : ' (the statistics count use of its table)';
}
