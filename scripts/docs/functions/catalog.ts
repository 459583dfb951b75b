/** Names of one PostgreSQL release and of its trusted extensions, with the volatility of functions. */
import type pg from 'pg';
import { TRUSTED_EXTENSIONS } from '../../../src/schema/model/extras.js';

/** Used for all functions with one name. */
export interface NamedFunction {
  name: string;
  /** True if every function can be called in an expression for one row, with values that SQL can write. */
  callable: boolean;
  /** The most volatile one. */
  volatility: 'immutable' | 'stable' | 'volatile';
}

export interface Brought {
  functions: NamedFunction[];
  /** Base, range, multirange and enum types. */
  types: string[];
  /** Operators without a volatile function. */
  operators: string[];
  operatorClasses: string[];
  searchConfigurations: string[];
}

export interface Catalog extends Brought {
  /** Extensions that this server could create. Some need a system library. */
  extensions: Map<string, Brought>;
}

/**
 * PostgreSQL creates values of these types internally. Functions that return `void` are called for their side effects.
 */
const INTERNAL = `'cstring','internal','void','trigger','event_trigger','language_handler','fdw_handler',
  'index_am_handler','tsm_handler','table_am_handler','pg_ddl_command','opaque'`;

/** $1: the catalog to read; $2: the extension, or null for PostgreSQL itself. */
const BELONGS = (catalog: string, oid: string, namespace: string): string =>
  `CASE WHEN $1::text IS NULL THEN ${namespace} = 'pg_catalog'::regnamespace AND ${oid} < 16384
    ELSE EXISTS (SELECT FROM pg_depend d JOIN pg_extension x ON x.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
      WHERE d.classid = '${catalog}'::regclass AND d.objid = ${oid} AND d.deptype = 'e' AND x.extname = $1) END`;

const FUNCTIONS = `SELECT p.proname::text AS name,
    bool_and(p.prokind = 'f' AND NOT p.proretset AND p.provariadic <> 'cstring'::regtype
      AND NOT EXISTS (SELECT FROM unnest(p.proargtypes::oid[] || p.prorettype) a JOIN pg_type t ON t.oid = a
        WHERE t.typname IN (${INTERNAL}))) AS callable,
    CASE max(CASE p.provolatile WHEN 'i' THEN 0 WHEN 's' THEN 1 ELSE 2 END)
      WHEN 0 THEN 'immutable' WHEN 1 THEN 'stable' ELSE 'volatile' END AS volatility
  FROM pg_proc p WHERE ${BELONGS('pg_proc', 'p.oid', 'p.pronamespace')} GROUP BY 1 ORDER BY 1`;

const TYPES = `SELECT t.typname::text AS name FROM pg_type t
  WHERE t.typtype IN ('b', 'r', 'm', 'e') AND t.typcategory <> 'A' AND ${BELONGS('pg_type', 't.oid', 't.typnamespace')}`;

const OPERATORS = `SELECT o.oprname::text AS name FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode
  WHERE ${BELONGS('pg_operator', 'o.oid', 'o.oprnamespace')} GROUP BY 1 HAVING bool_and(p.provolatile <> 'v')`;

const OPERATOR_CLASSES = `SELECT DISTINCT c.opcname::text AS name FROM pg_opclass c
  WHERE ${BELONGS('pg_opclass', 'c.oid', 'c.opcnamespace')}`;

const SEARCH_CONFIGURATIONS = `SELECT c.cfgname::text AS name FROM pg_ts_config c
  WHERE ${BELONGS('pg_ts_config', 'c.oid', 'c.cfgnamespace')}`;

async function listBrought(client: pg.Client, extension: string | null): Promise<Brought> {
  const names = async (text: string) =>
    (await client.query<{ name: string }>(text, [extension])).rows.map(({ name }) => name);
  return {
    functions: (await client.query<NamedFunction>(FUNCTIONS, [extension])).rows,
    types: await names(TYPES),
    operators: await names(OPERATORS),
    operatorClasses: await names(OPERATOR_CLASSES),
    searchConfigurations: await names(SEARCH_CONFIGURATIONS),
  };
}

export async function readCatalog(client: pg.Client): Promise<Catalog> {
  const extensions = new Map<string, Brought>();
  for (const name of TRUSTED_EXTENSIONS) {
    const isCreated = await client.query(`CREATE EXTENSION "${name}"`).then(
      () => true,
      () => false,
    );
    if (!isCreated) continue;
    extensions.set(name, await listBrought(client, name));
    await client.query(`DROP EXTENSION "${name}"`);
  }
  return { ...(await listBrought(client, null)), extensions };
}
