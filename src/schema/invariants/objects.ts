/** Problems of objects that the parser does not find. */
import { jsonEqual } from '../../kernel/json.js';
import { type Problem, problemAbout } from '../../kernel/problem.js';
import { addArticle, invisibleFault, quoteName, visibleText } from '../../kernel/text.js';
import { type Need, isIdentity, type AllSequenceOptions, everyOptionOf } from '../model/extras.js';
import type { Field } from '../model/model.js';
import {
  KINDS,
  OBJECT_KINDS,
  type ObjectKind,
  type ObjectName,
  type PrivilegesTarget,
  TARGETS,
  isAlwaysThere,
  isFreeOnTable,
  isRelation,
  isRoutine,
  isSequence,
  isTableLike,
  isType,
  objectKey,
} from '../model/objects.js';
import type { SchemaObject } from '../model/object-document.js';
import {
  type QualifiedName,
  SEARCHED,
  objectNameParts,
  qualifiedId,
  searchedNames,
  splitQualifiedId,
} from '../model/object-ids.js';
import {
  collectionsNeeding,
  isManagedType,
  objectsInOrder,
  isSameNeed,
  needLabel,
  needsOfNode,
  ownerOf,
} from '../model/order.js';
import { type State, getTarget, hasTableNamed, hasView, type CollectionNode, extrasOf } from '../model/state.js';
import { OWN_NAMES, extensionsWith } from '../sql-text/allowed-names.js';
import { checkSqlText } from '../sql-text/check-sql-text.js';
import { type TextContext, parseTypeText, textContextOf } from '../sql-text/expression.js';
import { parseDefinition } from '../sql-text/object-definition.js';
import { tableOf } from '../sql-text/object-table.js';
import { type SqlText, textsOfField, textsOfTable } from '../sql-text/texts.js';
import { givenNames } from '../sql-text/view.js';
import { withExtras } from '../transition/cascade.js';

export function objectProblems(from: State, to: State): Problem[] {
  return objectsInOrder(to).flatMap((object) => [
    ...newNameProblems(from, to, object),
    ...takenNameProblems(to, object),
    ...tableProblems(from, to, object),
    ...ruleProblems(from, to, object),
    ...sequenceProblems(to, object),
    ...typeProblems(from, to, object),
  ]);
}

/** Checks the name of a new object, and the names that its definition introduces. Adopted objects keep their names. */
function newNameProblems(from: State, to: State, object: SchemaObject): Problem[] {
  const { kind, id } = object;
  const fault = from.objects.has(objectKey(object)) ? null : invisibleFault(id);
  if (fault !== null)
    return [{ code: 'INVALID_PAYLOAD', message: `the name of an object ${fault}`, object: { kind, id } }];
  if (isUnchanged(from, object)) return [];
  const hidden = hiddenNames(object).filter(([name]) => !formerNames(from, to, object).has(name));
  return hidden.slice(0, 1).map(([name, reason]) => ({
    code: 'INVALID_PAYLOAD',
    message: `the name ${quoteName(name)} in the definition ${reason}`,
    object: { kind, id },
  }));
}

const MAY_HAVE_ESCAPES = /u&"/i;

/** Returns the names with hidden characters that the definition introduces, with the reasons. */
function hiddenNames({ kind, definition }: SchemaObject): [name: string, reason: string][] {
  if (typeof definition !== 'string' || !(isRelation({ kind }) || isRoutine({ kind }))) return [];
  if (visibleText(definition) === definition && !MAY_HAVE_ESCAPES.test(definition)) return [];
  return givenNames(definition).flatMap((name): [string, string][] => {
    const reason = invisibleFault(name);
    return reason === null ? [] : [[name, reason]];
  });
}

/** Returns the names in the definition before the change. The object may have had another name. */
function formerNames(from: State, to: State, object: SchemaObject): ReadonlySet<string> {
  const identity = to.objects.get(objectKey(object))?.identity;
  const former = [...from.objects.values()].find((node) => node.identity === identity)?.object.definition;
  return new Set(typeof former === 'string' ? givenNames(former) : []);
}

/**
 * Checks that the log contains the table, view, function, sequence or type of privileges, the table or view of a trigger or a rule, or
 * the table of another object of a table. Otherwise a replay of the log could not create the object. The HTTP layer checks
 * schemas, which the log does not contain. A statistics object
 * that did not change may have the former name of its table, until PostgreSQL rewrites it.
 */
function tableProblems(from: State, state: State, object: SchemaObject): Problem[] {
  const { kind, id } = object;
  if (isFreeOnTable(object) && isUnchanged(from, object)) return [];
  const { target } = objectNameParts(object);
  if (target !== null) return targetProblems(state, object, target);
  const table = tableOf(object);
  if (table === null || hasTableNamed(state, table)) return [];
  const isOnView = ON_VIEWS[kind];
  if (isOnView?.(state, table) === true) return [];
  const message = `${quoteName(table)} is not a managed table${isOnView === undefined ? '' : ' or view'}. Create or adopt it before the ${KINDS[kind].label}`;
  return [{ code: 'INVALID_PAYLOAD', message, object: { kind, id } }];
}

function targetProblems(state: State, { kind, id }: ObjectName, target: PrivilegesTarget): Problem[] {
  if (isAlwaysThere(target) || getTarget(state, target) !== undefined) return [];
  const message = `${quoteName(target.id)} is not a managed ${TARGETS[target.type].label}. Create or adopt it before the ${KINDS[kind].label}`;
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
  const message = `the rule uses ${quoteName(unknown)}, which is not a managed table or view. Create or adopt it before the rule, and write tables of the default schema without a schema`;
  return [{ code: 'INVALID_PAYLOAD', message, object: { kind, id } }];
}

/** True if a managed table or view has this name in SQL. */
const hasRelation = (state: State, name: string): boolean =>
  searchedNames(splitQualifiedId(name))
    .map(qualifiedId)
    .some((id) => hasTableNamed(state, id) || hasView(state, id));

/** Checks that tables that need a sequence define it like the object, and that none of their columns owns it. */
function sequenceProblems(state: State, object: SchemaObject): Problem[] {
  const parsed = isSequence(object) ? parseDefinition(object.definition) : '';
  if (typeof parsed === 'string' || parsed.sequence === null) return [];
  const options = everyOptionOf(parsed.sequence, 'bigint');
  return collectionsNeeding(state, object).flatMap((collection): Problem[] => {
    const need = needsOfNode(state.collections.get(collection)).find(
      (each) => each.kind === 'sequence' && qualifiedId({ schema: each.schema, name: each.name }) === object.id,
    );
    const fault = need?.kind === 'sequence' ? sequenceFault(need, options) : null;
    if (fault === null) return [];
    const message = `collection ${quoteName(collection)} needs sequence ${quoteName(object.id)} ${fault}`;
    return [{ code: 'INVALID_PAYLOAD', message, object: { kind: object.kind, id: object.id }, collection }];
  });
}

function sequenceFault(need: Extract<Need, { kind: 'sequence' }>, options: AllSequenceOptions): string | null {
  if (need.owned_by !== undefined)
    return `for its column ${quoteName(need.owned_by)}, which owns it. Only a sequence that no column owns can be an object`;
  return jsonEqual({ ...everyOptionOf(need, 'bigint') }, { ...options })
    ? null
    : 'with other options. Change both in the same change, the definition of the object and extras.needs of the collection';
}

/**
 * Checks that no table defines the type too, and that the log contains the types that it uses. Otherwise a replay of the log
 * could not create it.
 */
function typeProblems(from: State, to: State, object: SchemaObject): Problem[] {
  if (!isType(object)) return [];
  const subject = { kind: object.kind, id: object.id };
  const [collection] = collectionsNeeding(to, object);
  if (collection !== undefined) {
    const message = `type ${quoteName(object.id)} is a managed object, and extras.needs of collection ${quoteName(collection)} defines it too. Remove it from extras.needs in the same change. POST /schema/adopt does this for a type that exists`;
    return [{ code: 'INVALID_PAYLOAD', message, object: subject, collection }];
  }
  if (isUnchanged(from, object) && from.objects.get(objectKey(object)) === to.objects.get(objectKey(object))) return [];
  const parsed = parseDefinition(object.definition);
  const used = typeof parsed === 'string' ? [] : (parsed.type?.types ?? []);
  const unknown = used.find((type) => !isKnownType(to, type));
  if (unknown === undefined) return [];
  const name = qualifiedId(unknown);
  const message = `type ${quoteName(object.id)} uses the type ${quoteName(name)}, which is neither a type of PostgreSQL or of a trusted extension nor a managed type. Create or adopt it first`;
  return [{ code: 'INVALID_PAYLOAD', message, object: subject }];
}

const isKnownType = ({ objects }: State, { schema, name }: QualifiedName): boolean =>
  ((schema === undefined || schema === SEARCHED) && extensionsWith('types', name).length > 0) ||
  (schema === undefined && OWN_NAMES.types.has(name)) ||
  searchedNames({ schema, name }).some((each) => objects.has(objectKey({ kind: 'type', id: qualifiedId(each) })));

/**
 * Checks that no other object has the name. The kinds of one PostgreSQL catalog share a namespace, and views and
 * sequences share theirs with tables. Tables and views have row types, so types cannot have their names.
 */
function takenNameProblems(state: State, { kind, id }: ObjectName): Problem[] {
  const { catalog } = KINDS[kind];
  const isLikeTable = isTableLike({ kind });
  const hasRowType = (other: ObjectKind): boolean => isRelation({ kind: other });
  const isAlike = (other: ObjectKind): boolean =>
    KINDS[other].catalog === catalog ||
    (isLikeTable && isTableLike({ kind: other })) ||
    (isType({ kind }) && hasRowType(other)) ||
    (hasRowType(kind) && isType({ kind: other }));
  const other = OBJECT_KINDS.find(
    (each) => each !== kind && isAlike(each) && state.objects.has(objectKey({ kind: each, id })),
  );
  const isTable = (isLikeTable || isType({ kind })) && hasTableNamed(state, id);
  const taken = isTable ? 'collection' : other && KINDS[other].label;
  if (taken === undefined) return [];
  const message = `${quoteName(id)} is already the name of ${addArticle(taken)}: choose another name`;
  return [{ code: 'ALREADY_EXISTS', message, object: { kind, id } }];
}

/*
 * Checks that a shared object is defined equally in all tables that use it, that a sequence has only one owner column,
 * and that a table lists what it uses.
 */

interface OwnedNeed {
  need: Need;
  collection: string;
  /** The collection whose column owns the sequence. */
  owner?: string;
}

/**
 * Checks touched collections. Others are only read if a touched one has needs.
 * @param from the state before the change
 */
export function needProblems(state: State, touched: ReadonlySet<string>, from: State): Problem[] {
  return [...removedProblems(state, touched, from), ...definitionProblems(state, touched, from)];
}

function definitionProblems(state: State, touched: ReadonlySet<string>, from: State): Problem[] {
  const holders = [...touched].flatMap((name) => {
    const node = state.collections.get(name);
    return node !== undefined && needsOfNode(node).length > 0 ? [node] : [];
  });
  if (holders.length === 0) return [];
  const owners = new Map<string, OwnedNeed>();
  for (const [name, node] of state.collections) if (!touched.has(name)) note(owners, node);
  return holders.flatMap((node) => {
    const before = from.collections.get(node.collection.collection);
    const problems = [...problemsOf(node, owners), ...ownerProblems(node, before)];
    note(owners, node);
    return problems;
  });
}

function note(owners: Map<string, OwnedNeed>, node: CollectionNode): void {
  const { collection } = node.collection;
  for (const need of needsOfNode(node)) {
    const label = needLabel(need);
    const owned = owners.get(label) ?? { need, collection };
    owners.set(label, owned);
    if (ownerOf(need) !== undefined) owned.owner ??= collection;
  }
}

function problemsOf(node: CollectionNode, owners: ReadonlyMap<string, OwnedNeed>): Problem[] {
  const { collection } = node.collection;
  const seen = new Set<string>();
  return needsOfNode(node).flatMap((need, index) => {
    const label = needLabel(need);
    const fault = seen.has(label) ? 'is listed twice' : faultOf(need, owners.get(label));
    seen.add(label);
    if (fault === null) return [];
    const member = ['schema', 'extras', 'needs', index];
    const subject = { kind: 'need', collection, name: need.name, member } as const;
    return [problemAbout(subject, `${need.kind} ${quoteName(need.name)} ${fault}`)];
  });
}

function ownerProblems(node: CollectionNode, before: CollectionNode | undefined): Problem[] {
  const { collection } = node.collection;
  return needsOfNode(node).flatMap((need, index) => {
    const fault = ownerFault(need, node, before);
    if (fault === null) return [];
    const member = ['schema', 'extras', 'needs', index, 'owned_by'];
    const subject = { kind: 'need', collection, name: need.name, member } as const;
    return [problemAbout(subject, `${need.kind} ${quoteName(need.name)} ${fault}`)];
  });
}

/**
 * Returns why a column cannot own a sequence. A generated or identity column may keep a sequence that it already owns,
 * but cannot get a new one.
 */
function ownerFault(need: Need, node: CollectionNode, before: CollectionNode | undefined): string | null {
  const owner = ownerOf(need);
  if (owner === undefined) return null;
  const schema = node.fields.get(owner)?.schema ?? null;
  if (schema === null) return `must be owned by column ${quoteName(owner)}, which does not exist`;
  if (before === undefined || (schema.generation_expression === null && !isIdentity(schema))) return null;
  const had = needsOfNode(before).some((each) => needLabel(each) === needLabel(need) && ownerOf(each) === owner);
  return had ? null : `must be owned by column ${quoteName(owner)}, which generates its values without it`;
}

function faultOf(need: Need, owner: OwnedNeed | undefined): string | null {
  if (owner === undefined) return null;
  if (!isSameNeed(need, owner.need))
    return `differs from the definition in ${quoteName(owner.collection)}. Every table must define it in the same way`;
  if (ownerOf(need) === undefined || owner.owner === undefined) return null;
  return `is already owned by a column of ${quoteName(owner.owner)}`;
}

/* A table must list every need that it uses. Without the need, the table itself would remain, but the SQL export, a
   rebuild and a restore would fail. */

function removedProblems(state: State, touched: ReadonlySet<string>, from: State): Problem[] {
  return [...touched].flatMap((name) => {
    const node = state.collections.get(name);
    const before = needsOfNode(from.collections.get(name));
    if (before.length === 0 || !node?.collection.schema) return [];
    const kept = new Set(needsOfNode(node).map(needLabel));
    return before
      .filter((need) => !kept.has(needLabel(need)) && !isManagedType(state, need))
      .flatMap((need) => removedProblem(need, node));
  });
}

function removedProblem(need: Need, node: CollectionNode): Problem[] {
  const owner = ownerOf(need);
  // PostgreSQL drops the sequence with the column that owns it. If other objects use the sequence, PostgreSQL rejects
  // this and names them.
  if (owner !== undefined && !node.fields.has(owner)) return [];
  const user = userOf(need, node);
  if (user === null) return [];
  const { collection } = node.collection;
  const member = ['schema', 'extras', 'needs'];
  const subject = { kind: 'need', collection, name: need.name, member } as const;
  return [problemAbout(subject, `must contain ${need.kind} ${quoteName(need.name)}, because ${user} uses it`)];
}

/** Describes a part of the table that is valid only with the need. Null if there is none. */
function userOf(need: Need, node: CollectionNode): string | null {
  const isUsed = usesNeed(need, node);
  const field = [...node.fields.values()].find((each) => isUsedBy(need, each) || textsOfField(each).some(isUsed));
  if (field !== undefined) return `field ${quoteName(field.field)}`;
  const extras = extrasOf(node);
  const domain = extras.needs?.find((each) => each.kind === 'domain' && isTypeOf(need, each.type));
  if (domain !== undefined) return `domain ${quoteName(domain.name)}`;
  return textsOfTable(extras).some(isUsed) ? 'a constraint, an index or a partition of the table' : null;
}

const isUsedBy = (need: Need, { schema }: Field): boolean =>
  schema !== null &&
  (isTypeOf(need, schema.data_type) || (need.kind === 'collation' && schema.extras?.collation === need.name));

function isTypeOf({ kind, name }: Need, type: string): boolean {
  const used = parseTypeText(type)?.name ?? type;
  if (kind === 'extension') return extensionsWith('types', used).includes(name);
  return (kind === 'enum' || kind === 'domain') && used === name;
}

/** @returns a function that checks whether PostgreSQL can evaluate an expression only with the need */
function usesNeed(need: Need, node: CollectionNode): (text: SqlText) => boolean {
  let contexts: Record<'without' | 'with', TextContext> | undefined;
  return ({ kind, text }) => {
    contexts ??= { without: textContextOf(node), with: textContextOf(withNeed(node, need)) };
    return checkSqlText(kind, text, contexts.without) !== null && checkSqlText(kind, text, contexts.with) === null;
  };
}

function withNeed(node: CollectionNode, need: Need): CollectionNode {
  const { schema } = node.collection;
  if (schema === null) return node;
  const needs = [...needsOfNode(node), need];
  return { ...node, collection: { ...node.collection, schema: withExtras(schema, { ...schema.extras, needs }) } };
}
