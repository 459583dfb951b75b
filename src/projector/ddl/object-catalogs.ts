/* Describes, for each PostgreSQL catalog, which rows are objects and what the server prints for them. */
import { KINDS, OBJECT_KINDS, type ObjectKind } from '../../schema/model/objects.js';
import {
  HAS_ROW_SECURITY,
  POLICY_ID,
  POLICY_TAIL,
  ROW_SECURITY_TAIL,
  IS_PRIVILEGES,
  PRIVILEGES_FROM,
  PRIVILEGES_ID,
  ROUTINE_ID,
  ROUTINE_TAIL,
  IS_RULE,
  RULE_ID,
  RULE_QUERY,
  STATISTICS_FROM,
  STATISTICS_TAIL,
  IS_OBJECT,
  IS_OWN_SEQUENCE,
  IS_OWN_TYPE,
  SEQUENCES_FROM,
  SEQUENCE_TAIL,
  TRIGGER_ID,
  TRIGGER_QUERY,
  TYPES_FROM,
  TYPE_TAIL,
} from './object-sql.js';
import { type Sql, join, literal, sql } from './sql.js';
import { HAS_TABLE_OPTIONS, TABLE_OPTIONS_TAIL } from './table-options.js';

export type ObjectCatalog = (typeof KINDS)[ObjectKind]['catalog'];

export interface CatalogRows {
  /** The tables in FROM, with the namespace `n` of the object. */
  from: Sql;
  /** The condition that a row is an object. */
  where: Sql;
  /** The id, for comparison with a string. A cast of a name to text would prevent the use of its index. */
  id: Sql;
  /** The text that the server prints for the object. It changes if the definition changes. */
  printed: Sql;
  /** The name of the relation or function, or of the table of the object. */
  relation: Sql;
  /** The oid of the owner. Null if the object belongs to its table. */
  owner: Sql | null;
  /** The row of pg_depend that lists what the object uses. Null if it only uses its table. */
  depender: { catalog: string; oid: Sql } | null;
}

const NAMESPACE_OF_TABLE = sql`JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace`;

export const OBJECT_CATALOGS: Readonly<Record<ObjectCatalog, CatalogRows>> = {
  pg_class: {
    from: sql`pg_catalog.pg_class c ${NAMESPACE_OF_TABLE}
      JOIN pg_catalog.pg_rewrite r ON r.ev_class = c.oid AND r.rulename = '_RETURN'`,
    where: sql`c.relkind IN ('v', 'm')`,
    id: sql`c.relname`,
    printed: sql`pg_catalog.pg_get_viewdef(c.oid)`,
    relation: sql`c.relname`,
    owner: sql`c.relowner`,
    depender: { catalog: 'pg_rewrite', oid: sql`r.oid` },
  },
  pg_proc: {
    from: sql`pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace`,
    where: sql`true`,
    id: ROUTINE_ID,
    printed: ROUTINE_TAIL,
    relation: sql`p.proname`,
    owner: sql`p.proowner`,
    depender: { catalog: 'pg_proc', oid: sql`p.oid` },
  },
  pg_trigger: {
    from: sql`pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid ${NAMESPACE_OF_TABLE}`,
    where: IS_OBJECT,
    id: TRIGGER_ID,
    printed: TRIGGER_QUERY,
    relation: sql`c.relname`,
    owner: null,
    depender: { catalog: 'pg_trigger', oid: sql`t.oid` },
  },
  pg_policy: {
    from: sql`pg_catalog.pg_policy policy JOIN pg_catalog.pg_class c ON c.oid = policy.polrelid ${NAMESPACE_OF_TABLE}`,
    where: sql`true`,
    id: POLICY_ID,
    printed: POLICY_TAIL,
    relation: sql`c.relname`,
    owner: null,
    depender: { catalog: 'pg_policy', oid: sql`policy.oid` },
  },
  row_security: {
    from: sql`pg_catalog.pg_class c ${NAMESPACE_OF_TABLE}`,
    where: HAS_ROW_SECURITY,
    id: sql`c.relname`,
    printed: ROW_SECURITY_TAIL,
    relation: sql`c.relname`,
    owner: null,
    depender: null,
  },
  pg_statistic_ext: {
    from: STATISTICS_FROM,
    where: sql`c.relkind IN ('r', 'p')`,
    id: sql`s.stxname`,
    printed: STATISTICS_TAIL,
    relation: sql`c.relname`,
    owner: sql`s.stxowner`,
    depender: { catalog: 'pg_statistic_ext', oid: sql`s.oid` },
  },
  pg_rewrite: {
    from: sql`pg_catalog.pg_rewrite r JOIN pg_catalog.pg_class c ON c.oid = r.ev_class ${NAMESPACE_OF_TABLE}`,
    where: IS_RULE,
    id: RULE_ID,
    printed: RULE_QUERY,
    relation: sql`c.relname`,
    owner: null,
    depender: { catalog: 'pg_rewrite', oid: sql`r.oid` },
  },
  privileges: {
    from: PRIVILEGES_FROM,
    where: IS_PRIVILEGES,
    id: PRIVILEGES_ID,
    printed: sql`granted.list`,
    relation: sql`granted.name`,
    owner: null,
    depender: null,
  },
  table_options: {
    from: sql`pg_catalog.pg_class c ${NAMESPACE_OF_TABLE}`,
    where: HAS_TABLE_OPTIONS,
    id: sql`c.relname`,
    printed: TABLE_OPTIONS_TAIL,
    relation: sql`c.relname`,
    owner: null,
    depender: null,
  },
  pg_sequence: {
    from: SEQUENCES_FROM,
    where: IS_OWN_SEQUENCE,
    id: sql`c.relname`,
    printed: SEQUENCE_TAIL,
    relation: sql`c.relname`,
    owner: sql`c.relowner`,
    depender: null,
  },
  pg_type: {
    from: TYPES_FROM,
    where: IS_OWN_TYPE,
    id: sql`t.typname`,
    printed: TYPE_TAIL,
    relation: sql`t.typname`,
    owner: sql`t.typowner`,
    depender: { catalog: 'pg_type', oid: sql`t.oid` },
  },
};

export const objectCatalogs = Object.keys(OBJECT_CATALOGS) as ObjectCatalog[];

/** Returns SQL for the list of the kinds in a catalog, for IN. */
export const kindList = (catalog: ObjectCatalog): Sql =>
  join(OBJECT_KINDS.filter((kind) => KINDS[kind].catalog === catalog).map(literal), sql`, `);
