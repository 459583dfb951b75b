/* An object as it is in the database. */
import {
  type KINDS,
  type ObjectKind,
  type ObjectName,
  isOnTable,
  isRelation,
  objectKey,
  targetOf,
} from '../../schema/model/objects.js';
import type { Definition, Enabled, ObjectIndex } from '../../schema/model/object-document.js';
import { inSchema, objectNameParts } from '../../schema/model/object-ids.js';
import type { State } from '../../schema/model/state.js';
import { parseDefinition } from '../../schema/sql-text/object-definition.js';
import { objectsOn, privilegesOn } from '../../schema/sql-text/object-table.js';
import { parseGrants } from '../../schema/sql-text/privileges.js';

/** A relation, one of its columns, or a function that an object uses. */
export interface ObjectUse {
  catalog: (typeof KINDS)[ObjectKind]['catalog'];
  schema: string;
  /** The name of a relation, or the id of a function. */
  name: string;
  /** Null for the relation as a whole. */
  column: string | null;
  /** True if the object uses only the row type, which changes to columns and keys do not affect. */
  isRowType?: boolean;
  /** The id of the rule of the view that uses it. Null or absent if the view itself does. */
  rule?: string | null;
}

export interface CatalogObject {
  kind: ObjectKind;
  id: string;
  /**
   * The output of pg_get_viewdef without the semicolon, of pg_get_functiondef from the arguments on, or of
   * pg_get_triggerdef or pg_get_ruledef without the names of the object and of its table. For an aggregate, the
   * definition from the arguments on, which the service builds from the catalog. For a policy, row
   * security and table options, the definition after the table. For a statistics object, the definition after the name.
   * For privileges, the list as JSON.
   */
  query: string;
  /** One statement without a schema: `CREATE VIEW name WITH (…) AS SELECT …`. A list for privileges. */
  definition: Definition;
  comment: string | null;
  /** Sorted by name. Null for a kind without indexes. */
  indexes: ObjectIndex[] | null;
  /** Null unless it is a trigger or a rule. */
  enabled: Enabled | null;
  /** False for a materialized view without data. */
  populated: boolean;
  /** Statements for owner, privileges, comments and settings of columns, triggers, rules and statistics target. */
  restoring: string[];
  /** Statements for the comment and CLUSTER of each index, by its name. Absent for a kind without indexes. */
  restoringIndexes?: ReadonlyMap<string, readonly string[]>;
  uses: ObjectUse[];
  /** The extension that owns the object. */
  extension: string | null;
  /** True for privileges that PostgreSQL granted when it created the database. Absent for other objects. */
  isInitial?: boolean;
  /** True if the definition in the log has the same meaning. Absent if nothing has compared them. */
  isAsLogged?: boolean;
}

/** The managed objects as they are in the database, by `objectKey`. */
export type ObjectFacts = ReadonlyMap<string, CatalogObject>;

/**
 * Returns the object of a table, or the privileges, that a statement of the catalog creates. Undefined for other statements.
 * @param usual the default schema, which the statement names
 */
export function createdBy(text: string, usual: string): ObjectName | undefined {
  const created = /^(?:GRANT|REVOKE) /.test(text) ? grantedBy(text) : parseDefinition(text);
  if (typeof created === 'string') return undefined;
  return objectNameParts(created).schema === usual ? inSchema(created, undefined) : created;
}

function grantedBy(text: string): ObjectName | string {
  const grants = parseGrants(text);
  return typeof grants === 'string' ? grants : { kind: 'privileges', id: grants.id };
}

function objectsOf(objects: State['objects'], object: ObjectName): ObjectName[] {
  const target = targetOf(object);
  if (target !== undefined) return privilegesOn(objects, target);
  return isRelation(object) ? objectsOn(objects, object.id) : [];
}

/**
 * Returns the view or function without the statements for its managed triggers, rules and privileges, which are created
 * separately.
 * @param schema the default schema
 */
export function withoutManaged(
  { objects }: State,
  view: CatalogObject | undefined,
  schema: string,
): CatalogObject | undefined {
  if (view === undefined || objectsOf(objects, view).length === 0) return view;
  const isManaged = (text: string): boolean => {
    const created = createdBy(text, schema);
    return created !== undefined && isOnTable(created) && objects.has(objectKey(created));
  };
  return { ...view, restoring: view.restoring.filter((text) => !isManaged(text)) };
}
