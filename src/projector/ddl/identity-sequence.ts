/** Plans the sequence options and the sequence name of a column that stays an identity column. */
import { type ColumnField, type State, tableName } from '../../schema/model/state.js';
import { identitySequenceNameOf } from '../../schema/model/constraint-names.js';
import { isIdentity, type AllSequenceOptions, type SequenceType, everyOptionOf } from '../../schema/model/extras.js';
import { type Change, type Costs, type Step, locationIn, step } from './step.js';
import { label, tableOf } from './keys-and-indexes.js';
import { alterSequence, renderAllOptions, withSequence } from './sequence.js';
import { type Sql, literal, qualified, sql } from './sql.js';

const typeOf = ({ schema }: ColumnField): SequenceType => schema.data_type as SequenceType;

const optionsOf = (field: ColumnField, type = typeOf(field)): Sql => {
  const { name: _, ...options } = field.schema.extras?.sequence ?? {};
  return renderAllOptions(options, type);
};

const remainsIdentity = (old: ColumnField, now: ColumnField): boolean =>
  isIdentity(old.schema) && isIdentity(now.schema);

/**
 * True if the type of the sequence must be changed. PostgreSQL adapts the sequence to a new type itself, unless the
 * options are unusual.
 */
const isRetyped = (old: ColumnField, now: ColumnField): boolean =>
  typeOf(old) !== typeOf(now) && [old, now].some(({ schema }) => schema.extras?.sequence !== undefined);

/** Runs before the column type changes, so that no bound exceeds the new type. */
export function fitIdentitySequence(change: Change, old: ColumnField, now: ColumnField): Step[] {
  if (!remainsIdentity(old, now) || !isRetyped(old, now)) return [];
  const { name: _, ...options } = now.schema.extras?.sequence ?? {};
  // bigint is the only type that accepts any bounds.
  const fitting = renderAllOptions({ ...everyOptionOf(options, typeOf(now)), type: 'bigint', cycle: options.cycle });
  return [alter(old, now, alterSequence(identitySequence(change, now), fitting))];
}

/** Runs after the column type has changed, which also changes the type of the sequence. */
export function changeIdentitySequence(change: Change, old: ColumnField, now: ColumnField): Step[] {
  if (!remainsIdentity(old, now)) return [];
  const isAltered = isRetyped(old, now) || (typeOf(old) === typeOf(now) && optionsOf(old) !== optionsOf(now));
  return [
    ...(isAltered ? [alter(old, now, alterSequence(identitySequence(change, now), optionsOf(now)))] : []),
    ...renameIdentitySequence(change, old, now),
  ];
}

function alter(old: ColumnField, now: ColumnField, body: Sql): Step {
  const text = sql`DO ${literal(body)}`;
  return step(text, `change the sequence of ${label(now)}`, costsOf(old, now));
}

/** Sets the type of a new identity sequence, because CREATE TABLE and ADD IDENTITY accept no sequence type. */
export function typeIdentitySequence(change: Change, field: ColumnField): Step[] {
  if (!isIdentity(field.schema) || field.schema.extras?.sequence?.type === undefined) return [];
  const text = sql`DO ${literal(alterSequence(identitySequence(change, field), optionsOf(field)))}`;
  return [step(text, `set the type of the sequence of ${label(field)}`, { lock: 'none', lock_entries: 1 })];
}

/** Narrower bounds may fail, because numbers that were already used may lie outside. */
function costsOf(old: ColumnField, now: ColumnField): Costs {
  const [was, is] = [old, now].map(({ schema }): AllSequenceOptions => {
    return everyOptionOf(schema.extras?.sequence ?? {}, schema.data_type as SequenceType);
  }) as [AllSequenceOptions, AllSequenceOptions];
  const isNarrower = BigInt(is.min) > BigInt(was.min) || BigInt(is.max) < BigInt(was.max);
  return { lock: 'none', may_fail: isNarrower, lock_entries: 2 };
}

const nameIn = (state: State, field: ColumnField): string =>
  identitySequenceNameOf(tableName(state, field.collection), field);

/** A sequence without a custom name gets PostgreSQL's default name, if that is free. */
export function renameIdentitySequence(change: Change, old: ColumnField, now: ColumnField): Step[] {
  if (!remainsIdentity(old, now)) return [];
  const [former, name] = [
    identitySequenceNameOf(change.formerTable ?? tableName(change.before, old.collection), old),
    nameIn(change.after, now),
  ];
  if (former === name) return [];
  const renaming = sql`EXECUTE pg_catalog.format('ALTER SEQUENCE %s RENAME TO %I', altered, ${literal(name)});`;
  const isFree = sql`pg_catalog.to_regclass(${literal(qualified(locationIn(change, change.event.collection).schema, name))}) IS NULL`;
  const isGiven = now.schema.extras?.sequence?.name !== undefined;
  const body = withSequence(
    identitySequence(change, now),
    isGiven ? renaming : sql`IF ${isFree} THEN ${renaming} END IF;`,
  );
  const costs = { lock: 'none', lock_entries: 2 } as const;
  return [step(sql`DO ${literal(body)}`, `rename the sequence of ${label(now)}`, costs)];
}

/**
 * Returns an expression of type regclass that finds the sequence under any name. pg_get_serial_sequence may return
 * another sequence that the column owns.
 */
const identitySequence = (change: Change, { field }: ColumnField): Sql => sql`(
    SELECT d.objid::regclass FROM pg_catalog.pg_depend d
    JOIN pg_catalog.pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
    WHERE d.classid = 'pg_catalog.pg_class'::regclass::oid AND d.refclassid = 'pg_catalog.pg_class'::regclass::oid
    AND d.deptype = 'i' AND d.refobjid = pg_catalog.to_regclass(${literal(tableOf(change))})::oid AND a.attname = ${literal(field)})`;
