/** What is common to rules about statements that last as long as their table is large. */
import { levelBySize, sizeText } from '../levels.js';
import type { Observed, PlannedEvent, SaferWay } from '../model.js';
import { onlineRequest } from '../safer.js';
import { type PlannedStatement, tableOfRows } from '../statement.js';

/** What is said of such a statement: with the size of its table, and the way online where there is one; nothing where it is taken. */
export function lasting(statement: PlannedStatement, planned: PlannedEvent, sentence: string): Observed | undefined {
  const statistics = planned.batch.statistics(tableOfRows(statement));
  const online = statement.preparable !== undefined;
  if (online && planned.batch.online) return undefined;
  const way = online ? 'with "online", others wait for short locks only' : 'online, it is not possible';
  const size = statistics === undefined ? '' : ` (${sizeText(statistics)}; ${way})`;
  return {
    message: `${statement.summary}: ${sentence}${size}`,
    level: levelBySize(statistics),
    ...placeOf(statement),
    statistics: statistics ?? null,
    ...(online && { safer: preparedOnline(planned) }),
  };
}

/** The way online. */
export const preparedOnline = ({ event }: PlannedEvent): SaferWay => ({
  text: 'Ask for it online: what takes long is prepared outside the transaction, while the table is used.',
  request: onlineRequest(event),
});

/** Where a statement's finding is. */
export function placeOf({ object, source }: PlannedStatement): Pick<Observed, 'field' | 'object'> {
  const isPart = object.kind === 'constraint' || object.kind === 'index';
  return { field: source.field, ...(isPart && { object: { kind: object.kind, name: object.name } }) };
}
