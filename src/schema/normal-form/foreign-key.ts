/** Reads the `schema` of a relation: its foreign key. */
import { z } from 'zod';
import { foreignKeyName } from '../model/name-length.js';
import { isObject } from '../../kernel/json.js';
import { DEFERRABLES, type ForeignKey, type NewRelation, REFERENTIAL_ACTIONS } from '../model/model.js';
import { checkOf, complain, oneOf, type Reading, Wrong } from './checks.js';
import { identifierFault } from './names.js';
import { checkTable, mustEqual, type Others, overlay } from './overlay.js';

type Ends = Omit<NewRelation, 'schema'>;

/** `was`: the collection that the relation referenced before. A change may still contain its derived members. */
export type KeyedEnds = Ends & { was?: string | null };

/** The defaults of a foreign key. */
export function foreignKeyDefaults({ many_collection, many_field }: Ends): ForeignKey {
  return {
    constraint_name: foreignKeyName(many_collection, many_field),
    on_update: 'NO ACTION',
    on_delete: 'NO ACTION',
  };
}

const constraintName = checkOf<string>(z.string(), 'must be the name of the constraint, a string', {
  normal(value) {
    const fault = identifierFault(value as string);
    return fault === null ? (value as string) : new Wrong(fault);
  },
});

const action = oneOf(REFERENTIAL_ACTIONS, (value) => (typeof value === 'string' ? value.toUpperCase() : value));

export const FOREIGN_KEY_TABLE = checkTable<Omit<ForeignKey, 'deferrable'>>({
  constraint_name: constraintName,
  on_update: action,
  on_delete: action,
});

/** Returns `base` with the given members. Derived members must match the relation. */
export function readForeignKey(given: unknown, base: ForeignKey, relation: KeyedEnds, reading: Reading): ForeignKey {
  if (!isObject(given)) {
    complain(reading, ['schema'], 'must be an object (a foreign key) or null (none)');
    return base;
  }
  const { constraint_name: name, ...rest } = given;
  // Some vendors have foreign keys without names.
  const input = name === null && reading.imported ? rest : given;
  const key = overlay(
    base,
    { input, table: FOREIGN_KEY_TABLE, others: derivedMembers(relation), part: ['schema'] },
    reading,
  );
  return given['deferrable'] === undefined ? key : withDeferrable(key, given['deferrable'], reading);
}

/** Null means not deferrable, which is an absent member in normal form. */
function withDeferrable({ deferrable, ...key }: ForeignKey, given: unknown, reading: Reading): ForeignKey {
  const known = DEFERRABLES.find((each) => each === given);
  if (known !== undefined) return { ...key, deferrable: known };
  if (given !== null) complain(reading, ['schema', 'deferrable'], `must be ${DEFERRABLES.join(' or ')}, or null`);
  return given === null || deferrable === undefined ? key : { ...key, deferrable };
}

const NOT_A_NAME_OR_NULL = new Wrong('must be a string or null');
const isTextOrNull = (value: unknown): boolean => typeof value === 'string' || value === null;

function derivedMembers({ many_collection, many_field, one_collection, was }: KeyedEnds): Others {
  return (name, value) => {
    if (name === 'table') return mustEqual(value, many_collection);
    if (name === 'column') return mustEqual(value, many_field);
    if (name === 'foreign_key_table') return value === was || mustEqual(value, one_collection ?? '');
    // The column follows from the primary key, which is checked later. The HTTP layer checks the schema.
    if (name === 'foreign_key_column' || name === 'foreign_key_schema')
      return isTextOrNull(value) || NOT_A_NAME_OR_NULL;
    return name === 'deferrable';
  };
}
