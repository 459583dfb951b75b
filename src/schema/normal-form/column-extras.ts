/** Extras of a new or changed column: the given ones, or the existing ones that still apply. */
import { type ColumnExtras, isSerial } from '../model/extras.js';
import { jsonEqual, type Json } from '../../kernel/json.js';
import type { SequenceType } from '../model/sequence-options.js';
import { withKnownDefault } from '../sql-text/known-texts.js';
import { type Fault, type Report, collector } from './checks.js';
import { defaultFromCatalog } from './defaults/catalog-default.js';
import { readColumnExtras, readSequenceOptions } from './extras.js';
import type { ColumnType } from './types/field-types.js';
import type { ColumnSchema } from '../model/model.js';
import type { GivenColumn } from './types/column-type.js';

/* The change of a column. */

export interface ColumnChange {
  type: string;
  /** The given members, except derived ones. */
  given: GivenColumn;
  existing: ColumnSchema | null;
  /** The field type of the existing column. Members that depend on the type are reset if it changes. */
  existingType: string | undefined;
  /** True to accept the values of other vendors. */
  imported: boolean;
}

/** The resulting column without extras. */
interface Column extends ColumnType {
  is_nullable: boolean;
  is_unique: boolean;
  is_indexed: boolean;
  is_primary_key: boolean;
  increments: boolean;
  expression: string | null;
  value: Json;
}

/** Undefined if none are left. Problems are added to `faults`. @returns the existing object if nothing changes */
export function readExtras(change: ColumnChange, column: Column, faults: Fault[]): ColumnExtras | undefined {
  const report = collector(['extras'], faults);
  const given = change.given['extras'];
  const before = change.existing?.extras;
  const said = given === undefined ? before : readColumnExtras(given, report);
  if (said === undefined) return undefined;
  const read = withKnownDefault(said, before);
  const kept = Object.fromEntries(
    Object.entries(read).filter(([name]) => applies(name as keyof ColumnExtras, read, change, column)),
  ) as ColumnExtras;
  // This includes existing extras, so that the result does not depend on when they were sent.
  if (given !== undefined) reportLost(read, kept, report);
  resolveSequence(kept, column, report);
  if (jsonEqual(kept, before)) return before;
  return Object.keys(kept).length === 0 ? undefined : kept;
}

/** Returns the options as PostgreSQL stores them. Defaults depend on the column's type. */
function resolveSequence(kept: ColumnExtras, { data_type }: Column, report: Report): void {
  if (kept.sequence === undefined) return;
  const { name, ...given } = kept.sequence;
  const options = readSequenceOptions(given, data_type as SequenceType, ['sequence'], report);
  const sequence = { ...(name === undefined ? {} : { name }), ...options };
  if (Object.keys(sequence).length === 0) delete kept.sequence;
  else kept.sequence = sequence;
}

function reportLost(read: ColumnExtras, kept: ColumnExtras, report: Report): void {
  for (const name of Object.keys(read)) {
    if (Object.hasOwn(kept, name)) continue;
    report([name], "must be left out: it doesn't fit the column");
  }
}

const TEXTS: ReadonlySet<string> = new Set(['text', 'citext', 'character varying', 'character']);

type Rule = (column: Column, extras: ColumnExtras, change: ColumnChange) => boolean;

/** Conditions under which a member applies. */
const RULES: { readonly [M in keyof ColumnExtras]-?: Rule } = {
  precision: ({ data_type }) => /^(time|timestamp) /.test(data_type),
  collation: ({ data_type }, _, { type }) => TEXTS.has(data_type) || type === 'unknown',
  default: fitsDefault,
  identity: ({ increments }, extras) => increments && !isSerial({ extras }),
  virtual: ({ expression }) => expression !== null,
  sequence: ({ increments }, extras) => increments && !isSerial({ extras }),
  primary_key_name: ({ is_primary_key }) => is_primary_key,
  unique_name: ({ is_unique, is_primary_key }) => is_unique && !is_primary_key,
  index_name: ({ is_indexed }) => is_indexed,
  not_null_name: ({ is_nullable }) => !is_nullable,
};

/**
 * A default expression is removed if the column gets another default value, and `nextval` is removed if the column is
 * not auto-increment any more.
 */
function fitsDefault(column: Column, extras: ColumnExtras, { type }: ColumnChange): boolean {
  const { increments, expression, value } = column;
  if (expression !== null || extras.default === undefined) return false;
  if (value === null) return isSerial({ extras }) === increments;
  return jsonEqual(defaultFromCatalog(type, column, extras.default), value);
}

function applies(name: keyof ColumnExtras, extras: ColumnExtras, change: ColumnChange, column: Column): boolean {
  return RULES[name](column, extras, change);
}
