/** Problems of objects that the parser does not find. */
import type { Problem } from '../../kernel/problem.js';
import { addArticle, invisibleFault, quoteName } from '../../kernel/text.js';
import {
  KINDS,
  OBJECT_KINDS,
  type ObjectKind,
  type ObjectName,
  type SchemaObject,
  isFreeOnTable,
  objectKey,
  objectNameParts,
} from '../model/objects.js';
import { objectsInOrder } from '../model/order.js';
import { type State, getRoutine, hasTable, hasTableAt, hasView } from '../model/state.js';
import { parseDefinition } from '../sql-text/object-definition.js';
import { tableOf } from '../sql-text/object-table.js';

export function objectProblems(from: State, to: State): Problem[] {
  return objectsInOrder(to).flatMap((object) => [
    ...newNameProblems(from, object),
    ...takenNameProblems(to, object),
    ...tableProblems(from, to, object),
    ...ruleProblems(from, to, object),
  ]);
}

/** Checks the name of a new object. Adopted objects keep their names. */
function newNameProblems({ objects }: State, { kind, id }: ObjectName): Problem[] {
  const fault = objects.has(objectKey({ kind, id })) ? null : invisibleFault(id);
  if (fault === null) return [];
  return [{ code: 'INVALID_PAYLOAD', message: `the name of an object ${fault}`, object: { kind, id } }];
}

/**
 * Checks that the log contains the table, view or function of privileges, the table or view of a trigger or a rule, or
 * the table of another object of a table. Otherwise a replay of the log could not create the object. A statistics object
 * that did not change may have the former name of its table, until PostgreSQL rewrites it.
 */
function tableProblems(from: State, state: State, object: SchemaObject): Problem[] {
  const { kind, id } = object;
  if (isFreeOnTable(object) && isUnchanged(from, object)) return [];
  const { routine } = objectNameParts(object);
  if (routine !== null && getRoutine(state, routine) === undefined) {
    const message = `${quoteName(routine)} is not a managed function, procedure or aggregate of the default schema. Create or adopt it before the ${KINDS[kind].label}`;
    return [{ code: 'INVALID_PAYLOAD', message, object: { kind, id } }];
  }
  const table = tableOf(object);
  if (table === null || hasTableAt(state, undefined, table)) return [];
  const isOnView = ON_VIEWS[kind];
  if (isOnView?.(state, table) === true) return [];
  const message = `${quoteName(table)} is not a managed table ${isOnView === undefined ? '' : 'or view '}of the default schema. Create or adopt it before the ${KINDS[kind].label}`;
  return [{ code: 'INVALID_PAYLOAD', message, object: { kind, id } }];
}

const hasPlainView = ({ objects }: State, id: string): boolean => objects.has(objectKey({ kind: 'view', id }));

/** True if the object can be on this view. Other kinds can only be on tables. */
const ON_VIEWS: Partial<Record<ObjectKind, (state: State, view: string) => boolean>> = {
  trigger: hasPlainView,
  rule: hasPlainView,
  privileges: hasView,
};

const isUnchanged = ({ objects }: State, object: SchemaObject): boolean =>
  objects.get(objectKey(object))?.object.definition === object.definition;

/**
 * Checks that the log contains the tables and views that a rule reads or writes. A former name is allowed: PostgreSQL
 * rewrites the rule after a rename, and rejects a deletion.
 */
function ruleProblems(from: State, to: State, object: SchemaObject): Problem[] {
  const { kind, id, definition } = object;
  if (kind !== 'rule' || isUnchanged(from, object)) return [];
  const parsed = parseDefinition(definition);
  // A rename can result in a reserved name.
  if (typeof parsed === 'string')
    return [{ code: 'INVALID_PAYLOAD', message: `the definition of a rule ${parsed}`, object: { kind, id } }];
  const unknown = parsed.rule?.relations.find((name) => !hasRelation(to, name) && !hasRelation(from, name));
  if (unknown === undefined) return [];
  const message = `the rule uses ${quoteName(unknown)}, which is not a managed table or view of the default schema. Create or adopt it before the rule`;
  return [{ code: 'INVALID_PAYLOAD', message, object: { kind, id } }];
}

const hasRelation = (state: State, name: string): boolean => hasTableAt(state, undefined, name) || hasView(state, name);

/**
 * Checks that no other object has the name. The kinds of one PostgreSQL catalog share a namespace, and views share
 * theirs with tables.
 */
function takenNameProblems(state: State, { kind, id }: ObjectName): Problem[] {
  const { catalog } = KINDS[kind];
  const other = OBJECT_KINDS.find(
    (each) => each !== kind && KINDS[each].catalog === catalog && state.objects.has(objectKey({ kind: each, id })),
  );
  const isTable = catalog === 'pg_class' && hasTable(state, id);
  const taken = isTable ? 'collection' : other && KINDS[other].label;
  if (taken === undefined) return [];
  const message = `${quoteName(id)} is already the name of ${addArticle(taken)}: choose another name`;
  return [{ code: 'ALREADY_EXISTS', message, object: { kind, id } }];
}
