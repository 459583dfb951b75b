/* Checks the backfills of a change against the schema before and after it. */
import { jsonEqual } from '../../kernel/json.js';
import { type Problem, type Result, ok, problemAbout, refuse } from '../../kernel/problem.js';
import { quoteName } from '../../kernel/text.js';
import { type Backfill, type Backfills, EXPRESSION_TYPES, sourceOf } from '../model/backfill.js';
import { isSerial } from '../model/extras.js';
import { type ColumnSchema, type Field, TEXT_TYPES } from '../model/model.js';
import {
  type CollectionNode,
  type ColumnField,
  type State,
  NEW_IDENTITY,
  extrasOf,
  hasColumn,
  memberKey,
  fieldNameOf,
  sameCollection,
} from '../model/state.js';
import { InvalidValue } from '../normal-form/checks.js';
import { isFunctionDefault, readDefault } from '../normal-form/defaults/default-value.js';
import { columnType, isWider } from '../sql-text/data-types.js';
import { isReplacedField } from '../transition/context.js';

/** A backfill of a field, with the field by the names after the change. */
export interface RequestedBackfill {
  collection: string;
  field: string;
  backfill: Backfill;
}

/** Creates the problem of a backfill. `member` is the location below `backfill`. */
export const backfillProblem = (
  { collection, field }: Pick<RequestedBackfill, 'collection' | 'field'>,
  message: string,
  member: readonly string[] = [],
): Problem => problemAbout({ kind: 'field', collection, field, member: ['backfill', ...member] }, message);

/**
 * Returns the backfills in normal form. A field that was already NOT NULL contains no null, so its backfill is omitted.
 * The same request can therefore be sent again.
 */
export function resolveBackfills(from: State, to: State, requested: readonly RequestedBackfill[]): Result<Backfills> {
  const backfills = new Map<string, Backfill>();
  const problems: Problem[] = [];
  for (const each of requested) {
    const resolved = resolveBackfill(from, to, each);
    if (!resolved.ok) problems.push(...resolved.problems);
    else if (resolved.value !== null) backfills.set(memberKey(each.collection, each.field), resolved.value);
  }
  return problems.length > 0 ? refuse(...problems) : ok(backfills);
}

/** The field to fill, with its collection before and after the change. */
interface Filled extends RequestedBackfill {
  before: CollectionNode;
  after: CollectionNode;
  /** The field before the change. Undefined if it is new. */
  old: Field | undefined;
  now: ColumnField;
}

function resolveBackfill(from: State, to: State, requested: RequestedBackfill): Result<Backfill | null> {
  const filled = findFilled(from, to, requested);
  if (typeof filled === 'string') return refuse(backfillProblem(requested, filled));
  const { old, now } = filled;
  if (hasColumn(old) && !old.schema.is_nullable) return ok(null);
  return old !== undefined && isSame(old, now) ? refuse(backfillProblem(requested, UNCHANGED)) : readValues(filled);
}

/** Returns the field, or why its rows cannot be filled. */
function findFilled(from: State, to: State, requested: RequestedBackfill): Filled | string {
  const { collection, field } = requested;
  const after = to.collections.get(collection);
  const now = after?.fields.get(field);
  if (after === undefined || now === undefined) return 'the field does not exist after the change';
  const before = findBefore(from, after);
  if (before === undefined)
    return `the same change creates the collection ${quoteName(collection)}. Fill it afterwards`;
  if (!hasColumn(now)) return `${quoteName(field)} is an alias field, which has no column`;
  const fault = findColumnFault(after, now);
  const old = fieldBefore(before, after, field);
  const isNew = old === undefined || isReplacedField(old, now, { from, to });
  return fault ?? { ...requested, before, after, old: isNew ? undefined : old, now };
}

const UNCHANGED =
  'the request does not change the field. A backfill is part of a change to the field, for example schema.is_nullable: false';

/** Compares without names, because a rename has its own event. */
const isSame = (old: Field, now: Field): boolean =>
  old.type === now.type && jsonEqual(old.meta, now.meta) && jsonEqual(old.schema, now.schema);

/** Returns the collection before the change, which may have renamed it. */
const findBefore = (from: State, after: CollectionNode): CollectionNode | undefined =>
  after.identities.collection === NEW_IDENTITY ? undefined : sameCollection(from, after);

/** Returns the field before the change, which may have renamed it. */
function fieldBefore(before: CollectionNode, after: CollectionNode, field: string): Field | undefined {
  const identity = after.identities.fields.get(field);
  if (identity === undefined || identity === NEW_IDENTITY) return undefined;
  const name = fieldNameOf(before, identity);
  return name === undefined ? undefined : before.fields.get(name);
}

/** Returns why no row of the column can be filled, or null. */
function findColumnFault(node: CollectionNode, { field, schema }: ColumnField): string | null {
  const { partition_by, partition_of } = extrasOf(node);
  if (schema.generation_expression !== null) return `PostgreSQL generates the values of ${quoteName(field)}`;
  if (schema.has_auto_increment || isSerial(schema)) return `${quoteName(field)} is an auto-increment field`;
  if (partition_by !== undefined || partition_of !== undefined)
    return `${quoteName(node.collection.collection)} is a partitioned table or a partition, where backfill is not supported`;
  return null;
}

/** Reads the values that are written, and checks that the column can hold them. */
function readValues(filled: Filled): Result<Backfill> {
  const { backfill, now } = filled;
  if ('value' in backfill) return readValue(filled, backfill.value);
  if (sourceOf(backfill) !== undefined) return checkSource(filled);
  const { expression } = backfill as { expression: 'now' | 'gen_random_uuid' };
  const isFitting = EXPRESSION_TYPES[expression].has(now.schema.data_type);
  const message = `the expression ${expression} does not fit the type ${columnType(now.schema)}`;
  return isFitting ? ok(backfill) : refuse(backfillProblem(filled, message, ['expression']));
}

function readValue(filled: Filled, submitted: unknown): Result<Backfill> {
  const { now } = filled;
  const refused = (message: string) => refuse(backfillProblem(filled, message, ['value']));
  if (now.type.startsWith('geometry')) return refused('value is not supported for a geometry. Use another field');
  const value = readDefault(now.type, now.schema, submitted, { lenient: false });
  if (value instanceof InvalidValue) return refused(`value ${value.message}`);
  return isFunctionDefault(now.type, { default_value: value })
    ? refused('value must be a literal. Use expression instead')
    : ok({ value });
}

function checkSource(filled: Filled): Result<Backfill> {
  const { backfill, after } = filled;
  const source = after.fields.get(sourceOf(backfill) ?? '');
  const fault = hasColumn(source)
    ? (findSourceFault(filled, source) ?? findTypeFault(filled, source))
    : `field ${quoteName(sourceOf(backfill) ?? '')} of collection ${quoteName(filled.collection)} does not exist or has no column`;
  return fault === null ? ok(backfill) : refuse(backfillProblem(filled, fault, ['field']));
}

function findSourceFault({ before, after, field }: Filled, source: ColumnField): string | null {
  const name = quoteName(source.field);
  if (source.field === field) return 'field must be another field: this one is null in the rows to fill';
  if (source.schema.generation_expression !== null)
    return `PostgreSQL generates the values of ${name}. Use a field that stores its own values`;
  const old = fieldBefore(before, after, source.field);
  return hasColumn(old) && columnType(old.schema) === columnType(source.schema)
    ? null
    : `the same change creates field ${name} or changes its type. Change it first`;
}

function findTypeFault({ backfill, now }: Filled, source: ColumnField): string | null {
  const isText = TEXT_TYPES.has(source.schema.data_type) && TEXT_TYPES.has(now.schema.data_type);
  const types =
    `the type of ${quoteName(source.field)} is ${columnType(source.schema)}, ` +
    `and that of ${quoteName(now.field)} is ${columnType(now.schema)}`;
  if ('expression' in backfill) return isText ? null : `${backfill.expression} needs two text fields: ${types}`;
  return isText || isAssignable(source, now) ? null : `the values do not fit: ${types}`;
}

/** True if PostgreSQL writes the values of one column to the other without a cast, and rounds none. */
function isAssignable({ schema: from }: ColumnField, { schema: to }: ColumnField): boolean {
  if (from.data_type === to.data_type) return !isRounded(from, to);
  // PostgreSQL does not cast a time to a timestamp.
  return isWider(to.data_type, from.data_type) && from.data_type !== 'time without time zone';
}

/** PostgreSQL keeps six fractional digits of a second by default, and all digits of a numeric without a precision. */
function isRounded(from: ColumnSchema, to: ColumnSchema): boolean {
  const digits = ({ numeric_precision, numeric_scale }: ColumnSchema): number =>
    numeric_precision === null ? Infinity : (numeric_scale ?? 0);
  const seconds = ({ extras }: ColumnSchema): number => extras?.precision ?? 6;
  return (from.data_type === 'numeric' && digits(to) < digits(from)) || seconds(to) < seconds(from);
}
