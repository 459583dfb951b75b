/**
 * Finds constraints and indexes that cannot be altered to the recorded definition. They are dropped and created again.
 */
import { isObject, jsonEqual } from '../../kernel/json.js';
import type { TableSchema } from '../../schema/model/model.js';
import { extrasOfTable } from '../../schema/model/state.js';
import type { CatalogColumn, CatalogTable } from '../../projector/catalog/model.js';
import { type Sql, ident, qualified, sql } from '../../projector/ddl/sql.js';
import { requestOf } from '../../projector/online/copy.js';
import type { Difference } from '../../projector/verify/index.js';
import type { RepairPlan } from './model.js';

export interface ConflictingObjects {
  statements: RepairPlan['statements'];
  rest: CatalogTable;
}

interface Part {
  kind: 'constraint' | 'index';
  name: string;
}

const MEMBER = /^(constraint|index) (.*)$/s;

/** Returns the constraint or index that a difference is about. Null for other differences. */
export function partOf({ member }: Pick<Difference, 'member'>): Part | null {
  const [, kind, name] = MEMBER.exec(member) ?? [];
  return kind === undefined || name === undefined ? null : { kind: kind as Part['kind'], name };
}

/** Returns the members that belong to the table as a whole and not to a field. */
export function listTableParts(schema: TableSchema | null): string[] {
  const { constraints = [], indexes = [], unmanaged = [] } = extrasOfTable(schema);
  return [
    ...constraints.map(({ name }) => `constraint ${name}`),
    ...indexes.map(({ name }) => `index ${name}`),
    ...unmanaged.map(({ kind, name }) => `${kind} ${name}`),
  ];
}

interface TableComparison {
  schema: string;
  table: CatalogTable;
  /** The existing columns, by the name of their field. */
  renamed: ReadonlyMap<string, CatalogColumn>;
  /** The members of the existing table that belong to the table as a whole. */
  loose: ReadonlySet<string>;
}

export function conflictingObjects(
  differences: readonly Difference[],
  comparison: TableComparison,
): ConflictingObjects {
  const { schema, table, loose } = comparison;
  const keys = new Set(table.constraints.filter(({ kind }) => kind === 'primary key').map(({ name }) => name));
  const going = differences.filter((each) => {
    const part = partOf(each);
    if (part === null || each.found === null || (part.kind === 'constraint' && keys.has(part.name))) return false;
    if (requestOf(part.name) !== null) return true;
    return each.expected === null ? loose.has(each.member) : !isOnlyRenamed(each, comparison);
  });
  const removedMembers = new Set(going.map(({ member }) => member));
  const stays = (member: string): boolean => !removedMembers.has(member);
  return {
    statements: going.map((each) => ({ field: each.field ?? null, ...dropPart(partOf(each) as Part, schema, table) })),
    rest: {
      ...table,
      constraints: table.constraints.filter(({ name }) => stays(`constraint ${name}`)),
      indexes: table.indexes.filter(({ name, constraint }) =>
        stays(constraint === null ? `index ${name}` : `constraint ${constraint}`),
      ),
    },
  };
}

/** True if only the name of a column differs. The rename then also removes this difference. */
function isOnlyRenamed({ expected, found }: Difference, { renamed }: TableComparison): boolean {
  if (!isObject(found) || !Array.isArray(found['columns'])) return false;
  const names = new Map([...renamed].map(([field, { name }]) => [name, field]));
  const columns = found['columns'].map((name) => (typeof name === 'string' ? (names.get(name) ?? name) : name));
  return jsonEqual(expected, { ...found, columns });
}

function dropPart({ kind, name }: Part, usual: string, { name: table, schema = usual, table: own }: CatalogTable) {
  const dropConstraint = (): Sql => sql`ALTER TABLE ${qualified(schema, own)} DROP CONSTRAINT ${ident(name)}`;
  const text = kind === 'index' ? sql`DROP INDEX ${qualified(schema, name)}` : dropConstraint();
  return { sql: text, summary: `drop ${kind} ${name} of ${table}`, drops: true, object: { kind, name, table } };
}
