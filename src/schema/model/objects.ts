/*
 * Views and materialized views. Their definition is one SQL statement, and they are documents
 * like collections and fields.
 */
import { z } from 'zod';

export const OBJECT_KINDS = ['view', 'materialized_view'] as const;
export type ObjectKind = (typeof OBJECT_KINDS)[number];

export const isObjectKind = (value: unknown): value is ObjectKind => OBJECT_KINDS.includes(value as ObjectKind);

/** The words of each kind in CREATE, ALTER, DROP and COMMENT ON. */
export const SQL_WORDS: Readonly<Record<ObjectKind, string>> = {
  view: 'VIEW',
  materialized_view: 'MATERIALIZED VIEW',
};

const text = z.string();

/** An index of a materialized view. `definition` is the part of pg_get_indexdef from USING on. */
const objectIndex = z.strictObject({ name: text, unique: z.literal(true).optional(), definition: text });
export type ObjectIndex = z.infer<typeof objectIndex>;

export const objectDocument = z.strictObject({
  kind: z.enum(OBJECT_KINDS),
  /** The name of the view. */
  id: text,
  /** The statement in the request: `CREATE VIEW active_posts AS SELECT …`. */
  definition: text,
  comment: text.nullable(),
  /** Sorted by name. Only materialized views have indexes. */
  indexes: z.array(objectIndex).optional(),
});
export type SchemaObject = z.infer<typeof objectDocument>;

export type ObjectName = Pick<SchemaObject, 'kind' | 'id'>;

/** Identifies an object in `State.objects`. Names cannot contain NUL. */
export const objectKey = ({ kind, id }: ObjectName): string => `${kind}\0${id}`;

/** The words for messages: `materialized view "totals"`. */
export const objectLabel = ({ kind, id }: ObjectName): string => `${kind.replaceAll('_', ' ')} ${JSON.stringify(id)}`;
