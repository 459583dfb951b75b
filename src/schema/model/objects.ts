/*
 * Objects other than tables: views, materialized views, functions, procedures, aggregates, triggers, policies, row
 * security, statistics objects, rules, privileges, table options, sequences and types. Their definition is one SQL
 * statement, or a list for privileges. They are documents like collections and fields.
 */
import { z } from 'zod';

interface KindDescription {
  /** The kind in messages and in plans. */
  label: string;
  /** The plural of the label, if it does not end with `s` only. */
  plural?: string;
  /** The kind in CREATE, ALTER, DROP and COMMENT ON. */
  sqlWords: string;
  /** The definition in messages. */
  statement: string;
  /** The target of COMMENT ON in the parser's output. Null if PostgreSQL stores no comment. */
  commentTarget: string | null;
  /**
   * The catalog that contains objects of this kind. All names in one catalog share a namespace. `row_security`,
   * `privileges` and `table_options` stand for columns of pg_class.
   */
  catalog:
    | 'pg_class'
    | 'pg_proc'
    | 'pg_trigger'
    | 'pg_policy'
    | 'row_security'
    | 'pg_statistic_ext'
    | 'pg_rewrite'
    | 'privileges'
    | 'table_options'
    | 'pg_sequence'
    | 'pg_type';
  /** The values of `relkind` or `prokind` for this kind. Empty for a catalog with only one kind. */
  catalogKinds: readonly string[];
  /** True if the document has `indexes`. */
  hasIndexes: boolean;
  /** True if the document has `enabled`. */
  canBeDisabled: boolean;
  /**
   * `named`: a table has any number of these objects, with names. `single`: it has at most one, without a name.
   * `free`: its name belongs to the schema, so only its definition names the table.
   */
  onTable: 'no' | 'named' | 'single' | 'free';
}

/**
 * The kinds of objects. Facts that need a parser or SQL are in `CREATIONS` of the parser and `READERS` of the catalog.
 */
export const KINDS = {
  view: {
    label: 'view',
    sqlWords: 'VIEW',
    statement: 'CREATE VIEW',
    commentTarget: 'OBJECT_VIEW',
    catalog: 'pg_class',
    catalogKinds: ['v'],
    hasIndexes: false,
    canBeDisabled: false,
    onTable: 'no',
  },
  materialized_view: {
    label: 'materialized view',
    sqlWords: 'MATERIALIZED VIEW',
    statement: 'CREATE MATERIALIZED VIEW',
    commentTarget: 'OBJECT_MATVIEW',
    catalog: 'pg_class',
    catalogKinds: ['m'],
    hasIndexes: true,
    canBeDisabled: false,
    onTable: 'no',
  },
  function: {
    label: 'function',
    sqlWords: 'FUNCTION',
    statement: 'CREATE FUNCTION',
    commentTarget: 'OBJECT_FUNCTION',
    catalog: 'pg_proc',
    catalogKinds: ['f', 'w'],
    hasIndexes: false,
    canBeDisabled: false,
    onTable: 'no',
  },
  procedure: {
    label: 'procedure',
    sqlWords: 'PROCEDURE',
    statement: 'CREATE PROCEDURE',
    commentTarget: 'OBJECT_PROCEDURE',
    catalog: 'pg_proc',
    catalogKinds: ['p'],
    hasIndexes: false,
    canBeDisabled: false,
    onTable: 'no',
  },
  aggregate: {
    label: 'aggregate',
    sqlWords: 'AGGREGATE',
    statement: 'CREATE AGGREGATE',
    commentTarget: 'OBJECT_AGGREGATE',
    catalog: 'pg_proc',
    catalogKinds: ['a'],
    hasIndexes: false,
    canBeDisabled: false,
    onTable: 'no',
  },
  trigger: {
    label: 'trigger',
    sqlWords: 'TRIGGER',
    statement: 'CREATE TRIGGER',
    commentTarget: 'OBJECT_TRIGGER',
    catalog: 'pg_trigger',
    catalogKinds: [],
    hasIndexes: false,
    canBeDisabled: true,
    onTable: 'named',
  },
  policy: {
    label: 'policy',
    plural: 'policies',
    sqlWords: 'POLICY',
    statement: 'CREATE POLICY',
    commentTarget: 'OBJECT_POLICY',
    catalog: 'pg_policy',
    catalogKinds: [],
    hasIndexes: false,
    canBeDisabled: false,
    onTable: 'named',
  },
  row_security: {
    label: 'row security',
    plural: 'tables with row security',
    sqlWords: 'TABLE',
    statement: 'ALTER TABLE … ENABLE ROW LEVEL SECURITY',
    commentTarget: null,
    catalog: 'row_security',
    catalogKinds: [],
    hasIndexes: false,
    canBeDisabled: false,
    onTable: 'single',
  },
  statistics: {
    label: 'statistics object',
    sqlWords: 'STATISTICS',
    statement: 'CREATE STATISTICS',
    commentTarget: 'OBJECT_STATISTIC_EXT',
    catalog: 'pg_statistic_ext',
    catalogKinds: [],
    hasIndexes: false,
    canBeDisabled: false,
    onTable: 'free',
  },
  rule: {
    label: 'rule',
    sqlWords: 'RULE',
    statement: 'CREATE RULE',
    commentTarget: 'OBJECT_RULE',
    catalog: 'pg_rewrite',
    catalogKinds: [],
    hasIndexes: false,
    canBeDisabled: true,
    onTable: 'named',
  },
  privileges: {
    label: 'privileges',
    plural: 'privileges',
    sqlWords: 'TABLE',
    statement: 'GRANT',
    commentTarget: null,
    catalog: 'privileges',
    catalogKinds: [],
    hasIndexes: false,
    canBeDisabled: false,
    onTable: 'named',
  },
  table_options: {
    label: 'table options',
    plural: 'tables with options',
    sqlWords: 'TABLE',
    statement: 'ALTER TABLE … SET',
    commentTarget: null,
    catalog: 'table_options',
    catalogKinds: [],
    hasIndexes: false,
    canBeDisabled: false,
    onTable: 'single',
  },
  sequence: {
    label: 'sequence',
    sqlWords: 'SEQUENCE',
    statement: 'CREATE SEQUENCE',
    commentTarget: 'OBJECT_SEQUENCE',
    catalog: 'pg_sequence',
    catalogKinds: [],
    hasIndexes: false,
    canBeDisabled: false,
    onTable: 'no',
  },
  // PostgreSQL accepts the word TYPE for domains too, except in CREATE.
  type: {
    label: 'type',
    sqlWords: 'TYPE',
    statement: 'CREATE TYPE',
    commentTarget: 'OBJECT_TYPE',
    catalog: 'pg_type',
    catalogKinds: [],
    hasIndexes: false,
    canBeDisabled: false,
    onTable: 'no',
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

/** The sessions in which a trigger or a rule fires: the usual ones (`origin`), none, those of a replica, or all. */
export const ENABLED = ['origin', 'disabled', 'replica', 'always'] as const;
const enabled = z.enum(ENABLED);
export type Enabled = z.infer<typeof enabled>;

/** An index of a materialized view. `definition` is the part of pg_get_indexdef from USING on. */
const objectIndex = z.strictObject({ name: text, unique: z.literal(true).optional(), definition: text });
export type ObjectIndex = z.infer<typeof objectIndex>;

/** The only privilege on functions, procedures and aggregates. */
export const EXECUTE = 'EXECUTE';

/** The privilege to call nextval and currval on a sequence. */
const USAGE = 'USAGE';

/** The privileges, as in GRANT. `MAINTAIN` requires PostgreSQL 17. */
const PRIVILEGES = [
  'DELETE',
  EXECUTE,
  'INSERT',
  'MAINTAIN',
  'REFERENCES',
  'SELECT',
  'TRIGGER',
  'TRUNCATE',
  'UPDATE',
  USAGE,
] as const;

export const TABLE_PRIVILEGES = PRIVILEGES.filter((name) => name !== EXECUTE && name !== USAGE);

/** The privileges on columns. */
export const COLUMN_PRIVILEGES: ReadonlySet<string> = new Set(['INSERT', 'REFERENCES', 'SELECT', 'UPDATE']);

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
   * Identifies the object within its kind. For a view, a statistics object, a sequence or a type, the name. For a function or an
   * aggregate, the name and the argument types: `total(integer, text)`. For a trigger, policy or rule, the name and the
   * table: `audit on posts`. For privileges, the role and the table, function or sequence. For row security and table
   * options, the table. Outside the default schema, the schema precedes the name of the view, function, table and so on:
   * `billing.totals`, `audit on billing.invoices`.
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

export type ObjectName = Pick<SchemaObject, 'kind' | 'id'>;

/** Identifies an object in `State.objects`. Names cannot contain NUL. */
export const objectKey = ({ kind, id }: ObjectName): string => `${kind}\0${id}`;

/**
 * Returns the object's name for messages: `materialized view "totals"`. The kind may come from a path and be unknown.
 */
export const objectLabel = ({ kind, id }: ObjectName): string => `${kind.replaceAll('_', ' ')} ${JSON.stringify(id)}`;

/**
 * True for functions, procedures and aggregates, which PostgreSQL identifies by name and argument types. False for an
 * unknown kind of a diff.
 */
export const isRoutine = ({ kind }: Pick<ObjectName, 'kind'>): boolean =>
  isObjectKind(kind) && KINDS[kind].catalog === 'pg_proc';

/** True for views and materialized views. False for an unknown kind of a diff. */
export const isRelation = ({ kind }: Pick<ObjectName, 'kind'>): boolean =>
  isObjectKind(kind) && KINDS[kind].catalog === 'pg_class';

/** The catalogs whose names share the namespace of tables. */
export const TABLE_LIKE_CATALOGS: ReadonlySet<string> = new Set(['pg_class', 'pg_sequence']);

/** True for objects whose names share the namespace of tables. False for an unknown kind of a diff. */
export const isTableLike = ({ kind }: Pick<ObjectName, 'kind'>): boolean =>
  isObjectKind(kind) && TABLE_LIKE_CATALOGS.has(KINDS[kind].catalog);

export const isSequence = ({ kind }: { readonly kind: string }): boolean => kind === 'sequence';
export const isType = ({ kind }: { readonly kind: string }): boolean => kind === 'type';

export const RELATION_KINDS: readonly ObjectKind[] = OBJECT_KINDS.filter((kind) => isRelation({ kind }));

interface TargetDescription {
  /** The kinds of the objects. */
  kinds: readonly ObjectKind[];
  /** The kinds in messages. */
  label: string;
  /** The word in GRANT. ROUTINE covers functions, procedures and aggregates. */
  word: string;
  /** The kinds of objects in GRANT, in the parser's output. */
  parsed: ReadonlySet<unknown>;
  catalog: KindDescription['catalog'];
  privileges: readonly Privilege['name'][];
}

/** The objects that privileges can be on, apart from tables and views. */
export const TARGETS = {
  routine: {
    kinds: OBJECT_KINDS.filter((kind) => isRoutine({ kind })),
    label: 'function, procedure or aggregate',
    word: 'ROUTINE',
    parsed: new Set<unknown>(['OBJECT_FUNCTION', 'OBJECT_PROCEDURE', 'OBJECT_ROUTINE']),
    catalog: 'pg_proc',
    privileges: [EXECUTE],
  },
  sequence: {
    kinds: ['sequence'],
    label: 'sequence',
    word: 'SEQUENCE',
    parsed: new Set<unknown>(['OBJECT_SEQUENCE']),
    catalog: 'pg_sequence',
    privileges: ['SELECT', 'UPDATE', USAGE],
  },
} as const satisfies Readonly<Record<string, TargetDescription>>;

type TargetType = keyof typeof TARGETS;
export const TARGET_TYPES = Object.keys(TARGETS) as TargetType[];

/** A function, procedure, aggregate or sequence on which roles have privileges. */
export interface PrivilegesTarget {
  type: TargetType;
  /** The id of the object. */
  id: string;
}

/** Returns the object as a target of privileges. Undefined for objects of other kinds, such as tables and views. */
export function targetOf({ kind, id }: ObjectName): PrivilegesTarget | undefined {
  const type = TARGET_TYPES.find((each) => (TARGETS[each].kinds as readonly string[]).includes(kind));
  return type && { type, id };
}

/** The role in the id of privileges that stands for PUBLIC. PostgreSQL allows no role with this name. */
export const PUBLIC = 'public';

/**
 * True for triggers, policies, rules, privileges, row security and table options, whose id contains a table. The id of
 * some privileges contains a function or a sequence instead. False for an unknown kind of a diff.
 */
export const isOnTable = ({ kind }: Pick<ObjectName, 'kind'>): boolean =>
  isObjectKind(kind) && (KINDS[kind].onTable === 'named' || KINDS[kind].onTable === 'single');

/** True for statistics objects, which belong to a table but have a name in the schema. */
export const isFreeOnTable = ({ kind }: Pick<ObjectName, 'kind'>): boolean =>
  isObjectKind(kind) && KINDS[kind].onTable === 'free';

/** Returns the kind with this label. Undefined for labels of tables, columns and other things. */
export const kindWithLabel = (label: string): ObjectKind | undefined =>
  OBJECT_KINDS.find((kind) => KINDS[kind].label === label);

/** True for objects that have the name of their table. */
const isNamedLikeTable = ({ kind }: Pick<ObjectName, 'kind'>): boolean =>
  isObjectKind(kind) && KINDS[kind].onTable === 'single';

const PLAIN = /^[a-z_][a-z0-9_]*$/;

const quoteUnlessPlain = (name: string): string => (PLAIN.test(name) ? name : `"${name.replaceAll('"', '""')}"`);

const unquote = (name: string): string => (name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name);

/** The name of a relation or a type, or the id of a function, and its schema. */
export interface QualifiedName {
  /** Undefined for the default schema. */
  schema: string | undefined;
  name: string;
}

const WITH_SCHEMA = /^("(?:[^"]|"")+"|[a-z_][a-z0-9_]*)\.("(?:[^"]|"")+"|[a-z_][a-z0-9_]*)$/;
const QUOTED_DOT = /^"(?:[^"]|"")*\.(?:[^"]|"")*"$/;

/**
 * Returns the name of a relation or a type in ids: `totals`, `billing.totals`. In the default schema, it is the plain name,
 * in quotes only if it would look like a name with a schema.
 */
export function qualifiedId({ schema, name }: QualifiedName): string {
  if (schema !== undefined) return `${quoteUnlessPlain(schema)}.${quoteUnlessPlain(name)}`;
  return WITH_SCHEMA.test(name) || QUOTED_DOT.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
}

/** Splits the name of a relation or a type as ids contain it. */
export function splitQualifiedId(id: string): QualifiedName {
  const [, schema, name] = WITH_SCHEMA.exec(id) ?? [];
  if (schema !== undefined && name !== undefined) return { schema: unquote(schema), name: unquote(name) };
  return { schema: undefined, name: QUOTED_DOT.test(id) ? unquote(id) : id };
}

/**
 * Returns the id of a function, procedure or aggregate. The name is quoted unless it is plain. Keywords do not matter, because
 * they depend on the server.
 * @param schema undefined for the default schema
 */
export const routineId = (name: string, argumentTypes: string, schema?: string): string =>
  `${schema === undefined ? '' : `${quoteUnlessPlain(schema)}.`}${quoteUnlessPlain(name)}(${argumentTypes})`;

/** Quotes the name of a table or a sequence like that of a function. */
function spellQualifiedId(id: string): string {
  const { schema, name } = splitQualifiedId(id);
  return schema === undefined ? quoteUnlessPlain(name) : id;
}

/**
 * Returns the id of an object of a table. Both names of a trigger, policy, rule or role are quoted like that of a function.
 * @param table as in `qualifiedId`
 */
export function idOnTable(kind: ObjectKind, name: string, table: string): string {
  if (isFreeOnTable({ kind })) return qualifiedId({ ...splitQualifiedId(table), name });
  return isNamedLikeTable({ kind }) ? table : `${quoteUnlessPlain(name)} on ${spellQualifiedId(table)}`;
}

/** Returns the id of the privileges of a role: `editors on total(integer)` or `editors on sequence numbers`. */
export const idOnTarget = (role: string, { type, id }: PrivilegesTarget): string =>
  `${quoteUnlessPlain(role)} on ${type === 'routine' ? id : `${type} ${spellQualifiedId(id)}`}`;

interface ObjectNameParts {
  /** The name without schema, quotes, argument types or table. For privileges, the role. */
  name: string;
  /** The schema of the object, or of its table or target. Undefined for the default schema. */
  schema: string | undefined;
  /** `integer, text`. Null unless it is a function, procedure or aggregate. */
  argumentTypes: string | null;
  /** The table or view of an object whose id contains one, as in `qualifiedId`. Otherwise null. */
  table: string | null;
  /** The function, procedure, aggregate or sequence of privileges. Otherwise null. */
  target: PrivilegesTarget | null;
}

const ROUTINE_ID = /^(?:("(?:[^"]|"")+"|[^".(]+)\.)?("(?:[^"]|"")+"|[^".(]+)\((.*)\)$/s;
const ID_ON_TABLE = /^("(?:[^"]|"")+"|[^" ]+) on ((?:(?:"(?:[^"]|"")+"|[^". ]+)\.)?(?:"(?:[^"]|"")+"|[^". ]+))$/;
const ID_ON_ROUTINE =
  /^("(?:[^"]|"")+"|[^" ]+) on ((?:(?:"(?:[^"]|"")+"|[^".( ]+)\.)?(?:"(?:[^"]|"")+"|[^".( ]+)\(.*\))$/s;
const ID_ON_SEQUENCE =
  /^("(?:[^"]|"")+"|[^" ]+) on sequence ((?:(?:"(?:[^"]|"")+"|[^". ]+)\.)?(?:"(?:[^"]|"")+"|[^". ]+))$/;

/** Returns the unquoted name and the rest of an id of this form. */
function matchId(form: RegExp, id: string): { name: string; rest: string } | undefined {
  const [, name, rest] = form.exec(id) ?? [];
  return name === undefined || rest === undefined ? undefined : { name: unquote(name), rest };
}

/** Returns the name of a table or a sequence from its spelling in the id of another object. */
const readSpelled = (text: string): string => (WITH_SCHEMA.test(text) ? text : qualifiedId(unqualified(unquote(text))));

const unqualified = (name: string): QualifiedName => ({ schema: undefined, name });

/** Splits an id. An id that no definition can have is returned as a name. */
export function objectNameParts({ kind, id }: ObjectName): ObjectNameParts {
  const none = { argumentTypes: null, table: null, target: null };
  if (isNamedLikeTable({ kind })) return { ...none, ...splitQualifiedId(id), table: id };
  const onTarget = kind === 'privileges' ? partsOnTarget(id) : undefined;
  if (onTarget !== undefined) return { ...none, ...onTarget };
  const onTable = isOnTable({ kind }) ? matchId(ID_ON_TABLE, id) : undefined;
  if (onTable !== undefined) {
    const table = readSpelled(onTable.rest);
    return { ...none, name: onTable.name, schema: splitQualifiedId(table).schema, table };
  }
  if (isOnTable({ kind })) return { ...none, schema: undefined, name: id };
  if (!isRoutine({ kind })) return { ...none, ...splitQualifiedId(id) };
  const [, schema, name, argumentTypes] = ROUTINE_ID.exec(id) ?? [];
  if (name === undefined || argumentTypes === undefined) return { ...none, schema: undefined, name: id };
  return { ...none, schema: schema && unquote(schema), name: unquote(name), argumentTypes };
}

/** Splits the id of privileges that are not on a table or view. Undefined for others. */
function partsOnTarget(id: string): Pick<ObjectNameParts, 'name' | 'schema' | 'target'> | undefined {
  const onRoutine = matchId(ID_ON_ROUTINE, id);
  if (onRoutine !== undefined) {
    const { schema } = objectNameParts({ kind: 'function', id: onRoutine.rest });
    return { name: onRoutine.name, schema, target: { type: 'routine', id: onRoutine.rest } };
  }
  const onSequence = matchId(ID_ON_SEQUENCE, id);
  if (onSequence === undefined) return undefined;
  const sequence = readSpelled(onSequence.rest);
  const { schema } = splitQualifiedId(sequence);
  return { name: onSequence.name, schema, target: { type: 'sequence', id: sequence } };
}

/** An object as queries of the catalog identify it. The id contains no schema, and names of relations are not quoted. */
export interface LocalObject extends ObjectName {
  /** Undefined for the default schema. */
  schema: string | undefined;
}

export function toLocalObject(object: ObjectName): LocalObject {
  const { kind } = object;
  const { schema, name } = objectNameParts(object);
  return { kind, id: hasPlainId(object) ? name : inSchema(object, undefined).id, schema };
}

export const fromLocalObject = ({ kind, id, schema }: LocalObject): ObjectName =>
  hasPlainId({ kind }) ? { kind, id: qualifiedId({ schema, name: id }) } : inSchema({ kind, id }, schema);

/** True for objects whose id is the name of a relation, a type or a statistics object. */
const hasPlainId = ({ kind }: Pick<ObjectName, 'kind'>): boolean =>
  isNamedLikeTable({ kind }) || !(isRoutine({ kind }) || isOnTable({ kind }));

/**
 * Returns the object with the id that it has in a schema, whatever schema its id contains.
 * @param schema undefined for the default schema
 */
export function inSchema({ kind, id }: ObjectName, schema: string | undefined): ObjectName {
  const { name, argumentTypes, table, target } = objectNameParts({ kind, id });
  const move = (relation: string): string => qualifiedId({ schema, name: splitQualifiedId(relation).name });
  if (table !== null) return { kind, id: idOnTable(kind, name, move(table)) };
  if (target?.type === 'sequence') return { kind, id: idOnTarget(name, { ...target, id: move(target.id) }) };
  if (target !== null) {
    const routine = objectNameParts({ kind: 'function', id: target.id });
    const moved = routineId(routine.name, routine.argumentTypes ?? '', schema);
    return { kind, id: idOnTarget(name, { ...target, id: moved }) };
  }
  if (argumentTypes !== null) return { kind, id: routineId(name, argumentTypes, schema) };
  return isRoutine({ kind }) || isOnTable({ kind }) ? { kind, id } : { kind, id: qualifiedId({ schema, name }) };
}

/** Returns the name of the table, function or sequence of an object, without the schema. Null for objects of none. */
export function nameOfTarget(object: ObjectName): string | null {
  const { table, target } = objectNameParts(object);
  if (target?.type === 'routine') return objectNameParts({ kind: 'function', id: target.id }).name;
  const relation = target?.id ?? table;
  return relation === null ? null : splitQualifiedId(relation).name;
}

/** True for the privileges of PUBLIC on a function, which has EXECUTE unless this object exists. Its list is empty. */
export function isRevokedFromPublic(object: ObjectName): boolean {
  const { name, target } = objectNameParts(object);
  return target?.type === 'routine' && name === PUBLIC;
}

/**
 * Returns the id of the object with another name. The schema, the argument types and the table stay the same, so row
 * security and table options keep their id.
 */
export function renamedId(object: ObjectName, name: string): string {
  const { argumentTypes, schema, table } = objectNameParts(object);
  if (table !== null) return idOnTable(object.kind, name, table);
  return argumentTypes === null ? qualifiedId({ schema, name }) : routineId(name, argumentTypes, schema);
}

/** True for an object that PostgreSQL renames with its table or view. Its own name stays, if it has one. */
export const isRenamedWithTable = (object: ObjectName, to: string): boolean =>
  isNamedLikeTable(object) ||
  (isOnTable(object) && objectNameParts(object).name === objectNameParts({ kind: object.kind, id: to }).name);

/** Splits `integer, "a, b"[]`. Names of types may contain commas in quotes. */
export const splitArgumentTypes = (argumentTypes: string): string[] =>
  (argumentTypes.match(/(?:"(?:[^"]|"")*"|[^",])+/g) ?? []).map((type) => type.trim());

/** Creates the document of an object of which only the definition is known. */
export const newObject = ({ kind, id }: ObjectName, definition: Definition): SchemaObject => ({
  kind,
  id,
  definition,
  comment: null,
  ...(KINDS[kind].hasIndexes && { indexes: [] }),
  ...(KINDS[kind].canBeDisabled && { enabled: 'origin' as const }),
});
