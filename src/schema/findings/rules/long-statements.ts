/** Helpers of rules about statements whose duration grows with the table. */
import type { Operation } from 'fast-json-patch';
import { hasColumn, type CollectionNode, primaryKeyOf } from '../../model/state.js';
import { columnType } from '../../sql-text/data-types.js';
import { levelBySize, sizeText } from '../levels.js';
import type { Field, Observed, PlannedEvent, SaferWay, SafeRequest } from '../model.js';
import { type PlannedStatement, tableOfRows } from '../planned-statement.js';
import { fieldAfter } from './common.js';
import type { NewEvent } from '../../model/events.js';

/* The requests of safer alternatives. */

const segment = encodeURIComponent;

/** The online request for one event. For events without a request of their own, the whole diff. */
export function onlineRequest(event: NewEvent): SafeRequest {
  const { collection, field } = event;
  const whole: SafeRequest = { method: 'POST', path: '/schema/apply?online' };
  switch (event.type) {
    case 'field.updated': {
      const body = bodyOf(event.data.patch);
      if (body === undefined) return whole;
      return { method: 'PATCH', path: `/fields/${segment(collection)}/${segment(field ?? '')}?online`, body };
    }
    case 'field.deleted':
      return { method: 'DELETE', path: `/fields/${segment(collection)}/${segment(field ?? '')}?online` };
    case 'relation.created':
      return { method: 'POST', path: '/relations?online', body: relationBody(event.data.relation) };
    default:
      return whole;
  }
}

function relationBody({ many_collection, many_field, one_collection, schema }: RelationCreated): unknown {
  const key = schema === null ? null : { on_delete: schema.on_delete };
  return { collection: many_collection, field: many_field, related_collection: one_collection, schema: key };
}

type RelationCreated = Extract<NewEvent, { type: 'relation.created' }>['data']['relation'];

/** Returns the body of a PATCH request for a patch of whole members: `/schema/is_nullable`. */
function bodyOf(patch: readonly Operation[]): unknown {
  const body: { [member: string]: unknown } = {};
  for (const each of patch) {
    const path = each.path.split('/').slice(1);
    const [part = '', member] = path;
    if (path.length > 2 || (each.op !== 'add' && each.op !== 'replace')) return undefined;
    if (member === undefined) body[part] = each.value;
    else body[part] = { ...(body[part] as object | undefined), [member]: each.value };
  }
  return body;
}

/** Returns the finding with table size and online alternative. Undefined if the change is already online. */
export function lasting(statement: PlannedStatement, planned: PlannedEvent, sentence: string): Observed | undefined {
  const statistics = planned.batch.statistics(tableOfRows(statement));
  if (statement.preparable !== undefined && planned.batch.online) return undefined;
  const online = isPreparable(statement, planned);
  const way = online ? 'with "online", other sessions wait for short locks only' : 'it cannot be applied online';
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
  text: 'Apply it online: the service does the slow work before the transaction, while the table stays in use.',
  request: onlineRequest(event),
});

/** The location of a statement's finding. */
export function placeOf({ object, source }: PlannedStatement): Pick<Observed, 'field' | 'object'> {
  const isPart = object.kind === 'constraint' || object.kind === 'index';
  return { field: source.field, ...(isPart && { object: { kind: object.kind, name: object.name } }) };
}
