/** Helpers of rules about statements whose duration grows with the table. */
import { hasColumn, type CollectionNode, primaryKeyOf } from '../../model/state.js';
import { columnType } from '../../sql-text/data-types.js';
import { levelBySize, sizeText } from '../levels.js';
import type { Field, Observed, PlannedEvent, SaferWay } from '../model.js';
import { onlineRequest } from '../safer-requests.js';
import { type PlannedStatement, tableOfRows } from '../planned-statement.js';
import { fieldAfter } from './common.js';

/** Returns the finding with table size and online alternative. Undefined if the change is already online. */
export function lasting(statement: PlannedStatement, planned: PlannedEvent, sentence: string): Observed | undefined {
  const statistics = planned.batch.statistics(tableOfRows(statement));
  if (statement.preparable !== undefined && planned.batch.online) return undefined;
  const online = isPreparable(statement, planned);
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

/** True if the statement can be prepared online. A foreign key recreated with its column's type cannot. */
export const isPreparable = (statement: PlannedStatement, planned: PlannedEvent): boolean =>
  statement.preparable !== undefined && !isRetyped(statement, planned);

function isRetyped({ preparable, source }: PlannedStatement, planned: PlannedEvent): boolean {
  const { before, formerField, batch } = planned;
  const target = preparable?.references;
  if (typeof target !== 'string' || source.type !== 'relation.updated') return false;
  const own = [before?.fields.get(formerField), fieldAfter(planned, source)];
  const keys = [batch.before, batch.after].map(({ collections }) => keyOf(collections.get(target)));
  const [old, now] = keys.map((key, at) => [own[at], ...key].map(typeOf).join());
  return old !== now;
}

const keyOf = (node: CollectionNode | undefined): Field[] => (node === undefined ? [] : primaryKeyOf(node));

const typeOf = (field: Field | undefined): string => (hasColumn(field) ? columnType(field.schema) : '');

/** The online alternative. */
export const preparedOnline = ({ event }: PlannedEvent): SaferWay => ({
  text: 'Ask for it online: what takes long is prepared outside the transaction, while the table is used.',
  request: onlineRequest(event),
});

/** The location of a statement's finding. */
export function placeOf({ object, source }: PlannedStatement): Pick<Observed, 'field' | 'object'> {
  const isPart = object.kind === 'constraint' || object.kind === 'index';
  return { field: source.field, ...(isPart && { object: { kind: object.kind, name: object.name } }) };
}
