/*
 * Views and materialized views. Their definition is one SQL statement, and they are documents
 * like collections and fields.
 */
import { z } from 'zod';

interface KindDescription {
  /** The words in messages and in plans. */
  label: string;
  /** The words in CREATE, ALTER, DROP and COMMENT ON. */
  sqlWords: string;
  /** The target of COMMENT ON in the parser's output. */
  commentTarget: string;
  /** The catalog that contains the kind. Its names share one namespace. */
  catalog: 'pg_class';
  /** `relkind` in the catalog. */
  catalogKind: string;
  /** True if the document has `indexes`. */
  hasIndexes: boolean;
}

/** The kinds of objects. `CREATIONS` of the parser and `READERS` of the catalog contain what needs a parser or SQL. */
export const KINDS = {
  view: {
    label: 'view',
    sqlWords: 'VIEW',
    commentTarget: 'OBJECT_VIEW',
    catalog: 'pg_class',
    catalogKind: 'v',
    hasIndexes: false,
  },
  materialized_view: {
    label: 'materialized view',
    sqlWords: 'MATERIALIZED VIEW',
    commentTarget: 'OBJECT_MATVIEW',
    catalog: 'pg_class',
    catalogKind: 'm',
    hasIndexes: true,
  },
} as const satisfies Readonly<Record<string, KindDescription>>;

export type ObjectKind = keyof typeof KINDS;
export const OBJECT_KINDS = Object.keys(KINDS) as [ObjectKind, ...ObjectKind[]];

/** Returns the kind of a row of a catalog. */
export function kindInCatalog(catalog: KindDescription['catalog'], letter: string): ObjectKind {
  const kind = OBJECT_KINDS.find((each) => KINDS[each].catalog === catalog && KINDS[each].catalogKind === letter);
  if (kind === undefined) throw new Error(`${catalog} contains no objects of kind ${JSON.stringify(letter)}`);
  return kind;
}

export const isObjectKind = (value: unknown): value is ObjectKind => OBJECT_KINDS.includes(value as ObjectKind);

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

/** The words for messages: `materialized view "totals"`. The kind may come from a path and be none. */
export const objectLabel = ({ kind, id }: ObjectName): string => `${kind.replaceAll('_', ' ')} ${JSON.stringify(id)}`;
