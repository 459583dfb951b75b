/*
 * Objects other than tables: views, materialized views, functions, procedures, aggregates, triggers, policies, row
 * security, statistics objects, rules, privileges, table options, sequences and types. object-document.ts describes
 * their documents. The admin app needs their kinds without the library that describes documents.
 */
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

/** The sessions in which a trigger or a rule fires: the usual ones (`origin`), none, those of a replica, or all. */
export const ENABLED = ['origin', 'disabled', 'replica', 'always'] as const;

/** The only privilege on functions, procedures and aggregates. */
export const EXECUTE = 'EXECUTE';

/** The privilege to call nextval and currval on a sequence, to use a type, or to find objects in a schema. */
export const USAGE = 'USAGE';

/** The privilege to create objects in a schema. */
const CREATE = 'CREATE';

/** The privileges, as in GRANT. `MAINTAIN` requires PostgreSQL 17. */
export const PRIVILEGES = [
  CREATE,
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

export const TABLE_PRIVILEGES = PRIVILEGES.filter((name) => name !== CREATE && name !== EXECUTE && name !== USAGE);

type PrivilegeName = (typeof PRIVILEGES)[number];

/** The privileges on columns. */
export const COLUMN_PRIVILEGES: ReadonlySet<string> = new Set(['INSERT', 'REFERENCES', 'SELECT', 'UPDATE']);

/** Identifies an object. */
export interface ObjectName {
  kind: ObjectKind;
  /** See `objectDocument`. */
  id: string;
}

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
  /** The kinds of the objects. Empty for schemas, which are no objects: DB_SCHEMAS lists them. Empty for new objects too. */
  kinds: readonly ObjectKind[];
  /** The kinds in messages. */
  label: string;
  /** The word in GRANT. ROUTINE covers functions, procedures and aggregates. */
  word: string;
  /** The kinds of objects in GRANT, in the parser's output. */
  parsed: ReadonlySet<unknown>;
  /** Null for schemas and new objects. */
  catalog: KindDescription['catalog'] | null;
  privileges: readonly PrivilegeName[];
  /** The privilege that PUBLIC has on a new object. Null if it has none. */
  publicDefault: PrivilegeName | null;
}

/**
 * The objects that privileges can be on, apart from tables and views. Those on new objects are default privileges:
 * PostgreSQL grants them on each object that the database role of the service creates afterwards.
 */
export const TARGETS = {
  routine: {
    kinds: OBJECT_KINDS.filter((kind) => isRoutine({ kind })),
    label: 'function, procedure or aggregate',
    word: 'ROUTINE',
    parsed: new Set<unknown>(['OBJECT_FUNCTION', 'OBJECT_PROCEDURE', 'OBJECT_ROUTINE']),
    catalog: 'pg_proc',
    privileges: [EXECUTE],
    publicDefault: EXECUTE,
  },
  sequence: {
    kinds: ['sequence'],
    label: 'sequence',
    word: 'SEQUENCE',
    parsed: new Set<unknown>(['OBJECT_SEQUENCE']),
    catalog: 'pg_sequence',
    privileges: ['SELECT', 'UPDATE', USAGE],
    publicDefault: null,
  },
  // PostgreSQL accepts the word TYPE for domains too.
  type: {
    kinds: ['type'],
    label: 'type',
    word: 'TYPE',
    parsed: new Set<unknown>(['OBJECT_TYPE', 'OBJECT_DOMAIN']),
    catalog: 'pg_type',
    privileges: [USAGE],
    publicDefault: USAGE,
  },
  schema: {
    kinds: [] as readonly ObjectKind[],
    label: 'schema',
    word: 'SCHEMA',
    parsed: new Set<unknown>(['OBJECT_SCHEMA']),
    catalog: null,
    privileges: [CREATE, USAGE],
    publicDefault: null,
  },
  'new tables': {
    kinds: [] as readonly ObjectKind[],
    label: 'new tables',
    word: 'TABLES',
    parsed: new Set<unknown>(['OBJECT_TABLE']),
    catalog: null,
    // A copy, because default privileges cannot be restricted to columns.
    privileges: [...TABLE_PRIVILEGES],
    publicDefault: null,
  },
  'new sequences': {
    kinds: [] as readonly ObjectKind[],
    label: 'new sequences',
    word: 'SEQUENCES',
    parsed: new Set<unknown>(['OBJECT_SEQUENCE']),
    catalog: null,
    privileges: ['SELECT', 'UPDATE', USAGE],
    publicDefault: null,
  },
  'new functions': {
    kinds: [] as readonly ObjectKind[],
    label: 'new functions',
    word: 'FUNCTIONS',
    parsed: new Set<unknown>(['OBJECT_FUNCTION', 'OBJECT_PROCEDURE', 'OBJECT_ROUTINE']),
    catalog: null,
    privileges: [EXECUTE],
    publicDefault: EXECUTE,
  },
  'new types': {
    kinds: [] as readonly ObjectKind[],
    label: 'new types',
    word: 'TYPES',
    parsed: new Set<unknown>(['OBJECT_TYPE']),
    catalog: null,
    privileges: [USAGE],
    publicDefault: USAGE,
  },
} as const satisfies Readonly<Record<string, TargetDescription>>;

type TargetType = keyof typeof TARGETS;
const TARGET_TYPES = Object.keys(TARGETS) as TargetType[];

export const isNewType = (type: TargetType): type is Extract<TargetType, `new ${string}`> => type.startsWith('new ');
const [NEW_TYPES, EXISTING_TYPES] = [TARGET_TYPES.filter(isNewType), TARGET_TYPES.filter((type) => !isNewType(type))];

/** Returns the type of the target of GRANT, by the kind of object in the parser's output. */
export const grantedType = (parsed: unknown, areNew: boolean): TargetType | undefined =>
  (areNew ? NEW_TYPES : EXISTING_TYPES).find((each) => TARGETS[each].parsed.has(parsed));

/**
 * A function, procedure, aggregate, sequence, type or schema on which roles have privileges, or the new objects in a
 * schema.
 */
export interface PrivilegesTarget {
  type: TargetType;
  /**
   * The id of the object, or the name of the schema, also that of the default schema. Empty for the new objects in all
   * schemas.
   */
  id: string;
}

/** True if the target exists without an object of the log: a schema, and new objects. */
export const isAlwaysThere = ({ type }: PrivilegesTarget): boolean => TARGETS[type].kinds.length === 0;

/** Returns the new objects whose default privileges apply to an object. Tables have no kind. Undefined for other objects. */
export function newTypeOf(kind: ObjectKind | 'table'): TargetType | undefined {
  if (kind === 'table' || isRelation({ kind })) return 'new tables';
  if (isRoutine({ kind })) return 'new functions';
  return isSequence({ kind }) ? 'new sequences' : isType({ kind }) ? 'new types' : undefined;
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
 * some privileges contains a function, a sequence, a type, a schema or new objects instead. False for an unknown kind of
 * a diff.
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
export const isNamedLikeTable = ({ kind }: Pick<ObjectName, 'kind'>): boolean =>
  isObjectKind(kind) && KINDS[kind].onTable === 'single';
