/* Findings about options of tables. */
import type { SchemaObject } from '../../model/object-document.js';
import { getObject } from '../../model/state.js';
import { parseDefinition } from '../../sql-text/object-definition.js';
import { levelBySize, sizeText } from '../levels.js';
import type { Observation, PlannedObjectEvent, Rule } from '../model.js';
import { followsTable, subjectOnTable } from './objects.js';

function isUnlogged(object: SchemaObject | undefined): boolean {
  const parsed = object?.kind === 'table_options' ? parseDefinition(object.definition) : '';
  return typeof parsed !== 'string' && parsed.tableOptions?.isUnlogged === true;
}

/** Observes that an existing table becomes unlogged or logged. */
export function observeRewrittenByOptions(planned: PlannedObjectEvent): Observation | undefined {
  const { event, batch, old, found } = planned;
  if (found || followsTable(planned)) return undefined;
  const [before, after] = [isUnlogged(old), isUnlogged(getObject(batch.after, event.subject))];
  const place = subjectOnTable(event.subject, planned);
  if (before === after || !batch.before.collections.has(place.collection ?? '')) return undefined;
  const statistics = batch.statistics(place.collection ?? '');
  const size = statistics === undefined ? '' : ` (${sizeText(statistics)})`;
  return {
    message: `set ${JSON.stringify(event.subject.id)} ${after ? 'UNLOGGED' : 'LOGGED'}: PostgreSQL rewrites the whole table and locks it for reads and writes${size}`,
    level: levelBySize(statistics),
    statistics: statistics ?? null,
    ...place,
  };
}

export const unloggedTable: Rule = {
  code: 'UNLOGGED_TABLE',
  level: 'warn',
  standing: true,
  title: 'Unlogged table',
  what: 'A table is `UNLOGGED`.',
  why: 'PostgreSQL deletes all rows of the table after a crash. Standbys and logical replicas do not have its rows.',
  safer: 'Use it only for rows that an application can compute again.',
  example: {
    unsafe: 'ALTER TABLE posts SET UNLOGGED',
    safe: 'ALTER TABLE posts SET (autovacuum_vacuum_scale_factor = 0.01)',
  },
  object({ now }, planned) {
    if (!isUnlogged(now)) return undefined;
    const message = `${JSON.stringify(now.id)} is unlogged: PostgreSQL deletes its rows after a crash`;
    return { message, ...subjectOnTable(now, planned) };
  },
};
