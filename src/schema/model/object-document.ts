/*
 * The documents of objects, which are documents like collections and fields. The definition of an object is one SQL
 * statement, or a list for privileges.
 */
import { z } from 'zod';
import { ENABLED, KINDS, OBJECT_KINDS, type ObjectName, PRIVILEGES } from './objects.js';

const text = z.string();

const enabled = z.enum(ENABLED);
export type Enabled = z.infer<typeof enabled>;

/** An index of a materialized view. `definition` is the part of pg_get_indexdef from USING on. */
const objectIndex = z.strictObject({ name: text, unique: z.literal(true).optional(), definition: text });
export type ObjectIndex = z.infer<typeof objectIndex>;

const privilege = z.strictObject({
  name: z.enum(PRIVILEGES),
  /** Sorted. Absent for the whole table, and for privileges on other objects. */
  columns: z.array(text).optional(),
  /** True for WITH GRANT OPTION. */
  grantable: z.literal(true).optional(),
});
export type Privilege = z.infer<typeof privilege>;

export const objectDocument = z.strictObject({
  kind: z.enum(OBJECT_KINDS),
  /**
   * Identifies the object within its kind. For a view, a statistics object, a sequence or a type, the name. For a
   * function or an aggregate, the name and the argument types: `total(integer, text)`. For a trigger, policy or rule,
   * the name and the table: `audit on posts`. For privileges, the role and the table, function, sequence, type, schema
   * or new objects. For row security and table options, the table. Outside the default schema, the schema precedes the
   * name of the view, function, table and so on: `billing.totals`, `audit on billing.invoices`.
   */
  id: text,
  /** The statement that creates the object: `CREATE VIEW active_posts AS SELECT …`. A list for privileges. */
  definition: z.union([text, z.array(privilege)]),
  comment: text.nullable(),
  /** Sorted by name. Only materialized views have indexes. */
  indexes: z.array(objectIndex).optional(),
  /** The sessions in which a trigger or a rule fires. Other objects do not have this member. */
  enabled: enabled.optional(),
});
export type SchemaObject = z.infer<typeof objectDocument>;

export type Definition = SchemaObject['definition'];

/** Creates the document of an object of which only the definition is known. */
export const newObject = ({ kind, id }: ObjectName, definition: Definition): SchemaObject => ({
  kind,
  id,
  definition,
  comment: null,
  ...(KINDS[kind].hasIndexes && { indexes: [] }),
  ...(KINDS[kind].canBeDisabled && { enabled: 'origin' as const }),
});
