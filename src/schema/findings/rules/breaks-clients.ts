import { hasColumn } from '../../model/state.js';
import { levelByUse } from '../levels.js';
import { isRename } from '../../model/events.js';
import type { Observed, PlannedEvent, Rule, TableStatistics } from '../model.js';

export const breaksClients: Rule = {
  code: 'BREAKS_CLIENTS',
  level: 'warn',
  title: 'Breaks who uses it',
  what: 'A table or a column gets another name; or it goes, and is in use.',
  why: 'Applications that still say the old name fail from the moment of the change, also those that only read.',
  safer:
    'Deploy applications that do without it first. For a name: add the new one beside it, write both, and delete the old one when nobody says it any more.',
  levels:
    '`note` where the statistics count no use of the table, else `warn`. What goes is told where they count some: that its data goes says `LOSES_DATA`.',
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
    const message = `${what}: applications that use it fail from then on${useText(statistics)}`;
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
  return uses === 0 ? ' (the statistics count no use of its table)' : ' (its table is used, by the statistics)';
}
