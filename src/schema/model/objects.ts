/*
 * Objects other than tables: views, materialized views, functions and procedures. Their definition is one SQL statement, and
 * they are documents like collections and fields.
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
  catalog: 'pg_class' | 'pg_proc';
  /** The letters of `relkind` or `prokind`. */
  catalogKinds: readonly string[];
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
    catalogKinds: ['v'],
    hasIndexes: false,
  },
  materialized_view: {
    label: 'materialized view',
    sqlWords: 'MATERIALIZED VIEW',
    commentTarget: 'OBJECT_MATVIEW',
    catalog: 'pg_class',
    catalogKinds: ['m'],
    hasIndexes: true,
  },
  function: {
    label: 'function',
    sqlWords: 'FUNCTION',
    commentTarget: 'OBJECT_FUNCTION',
    catalog: 'pg_proc',
    catalogKinds: ['f', 'w'],
    hasIndexes: false,
  },
  procedure: {
    label: 'procedure',
    sqlWords: 'PROCEDURE',
    commentTarget: 'OBJECT_PROCEDURE',
    catalog: 'pg_proc',
    catalogKinds: ['p'],
    hasIndexes: false,
  },
} as const satisfies Readonly<Record<string, KindDescription>>;

export type ObjectKind = keyof typeof KINDS;
export const OBJECT_KINDS = Object.keys(KINDS) as [ObjectKind, ...ObjectKind[]];

/** Returns the kind of a row of a catalog. */
export function kindInCatalog(catalog: KindDescription['catalog'], letter: string): ObjectKind {
  const kind = OBJECT_KINDS.find(
    (each) => KINDS[each].catalog === catalog && (KINDS[each].catalogKinds as readonly string[]).includes(letter),
  );
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
  /** The name of a view. The name and the argument types of a function: `total(integer, text)`. */
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

/** True for functions and procedures, which PostgreSQL identifies by name and argument types. False for an unknown kind of a diff. */
export const isRoutine = ({ kind }: Pick<ObjectName, 'kind'>): boolean =>
  isObjectKind(kind) && KINDS[kind].catalog === 'pg_proc';

const PLAIN = /^[a-z_][a-z0-9_]*$/;

/** The id of a function or procedure. A name is quoted unless it is plain, whatever the keywords of the server are. */
export const routineId = (name: string, argumentTypes: string): string =>
  `${PLAIN.test(name) ? name : `"${name.replaceAll('"', '""')}"`}(${argumentTypes})`;

interface ObjectNameParts {
  /** The name without quotes and without argument types. */
  name: string;
  /** `integer, text`. Null for a view. */
  argumentTypes: string | null;
}

const ROUTINE_ID = /^("(?:[^"]|"")+"|[^"(]+)\((.*)\)$/s;

/** Splits an id. An id that no definition can have counts as a name. */
export function objectNameParts({ kind, id }: ObjectName): ObjectNameParts {
  const [, name, argumentTypes = ''] = (isRoutine({ kind }) && ROUTINE_ID.exec(id)) || [];
  if (name === undefined) return { name: id, argumentTypes: null };
  return { name: name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name, argumentTypes };
}

/** Returns the id of the object with another name. The argument types stay. */
export function renamedId(object: ObjectName, name: string): string {
  const { argumentTypes } = objectNameParts(object);
  return argumentTypes === null ? name : routineId(name, argumentTypes);
}

/** Splits `integer, "a, b"[]`. Names of types may contain commas in quotes. */
export const splitArgumentTypes = (argumentTypes: string): string[] =>
  (argumentTypes.match(/(?:"(?:[^"]|"")*"|[^",])+/g) ?? []).map((type) => type.trim());
