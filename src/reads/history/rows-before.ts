/**
 * Locates the rows of a plan's tables before the plan: in tables under their former names, or in the trash they are
 * restored from.
 */
import type { Resumable } from '../../kernel/resumable.js';
import { COPY } from '../../projector/ddl/trash/values.js';
import { type Sql, ident, join, qualified, sql, targetTable, trash } from '../../projector/ddl/sql.js';
import { formerNames } from '../../schema/fold/former-names.js';
import { type LogEvent, type RestoredCollection, takenFromTrash } from '../../schema/model/events.js';
import type { Field } from '../../schema/model/model.js';
import { type CollectionNode, type Identity, type State, primaryKeyOf } from '../../schema/model/state.js';
import { isSystemCollection } from '../../schema/model/system-collections.js';

export interface Planned {
  before: State;
  after: State;
  events: readonly LogEvent[];
}

export interface Rows {
  table: Sql;
  /** The FROM clause of a query with the rows as `m`, joined with the trash if `column` needs it. */
  from(field: string): Sql;
  /** By the name after the plan. Undefined if the column has no values yet. */
  column(field: string): Column | undefined;
}

interface Column {
  /** Column name, if the value is in the table. */
  name: string;
  /** Expression for the value. */
  sql: Sql;
  isNullable: boolean;
}

interface Table {
  table: Sql;
  fields: ReadonlyMap<Identity, Field>;
}

/**
 * Looks up rows by the name after the plan. Undefined for tables that the plan creates empty. Results are cached,
 * because a plan asks for each of its fields.
 */
export function* rowsBefore(plan: Planned, schema: string): Resumable<(collection: string) => Rows | undefined> {
  const { restored, copies } = yield* takenBy(plan);
  const former = formerNames();
  for (const event of plan.events) {
    former.add(event);
    yield;
  }
  const tableOf = (collection: string, { identities }: CollectionNode): Table | undefined => {
    const name = former.collection(collection);
    const node = plan.before.collections.get(name);
    return node?.identities.collection === identities.collection
      ? { table: qualified(schema, name), fields: byIdentity(node) }
      : restored.get(identities.collection);
  };
  const rowsIn = (collection: string): Rows | undefined => {
    if (isSystemCollection(collection)) return systemRows(targetTable(schema, collection));
    const node = plan.after.collections.get(collection);
    const table = node && tableOf(collection, node);
    return table && rowsOf(node, table, copies);
  };
  const known = new Map<string, Rows | undefined>();
  return (collection) => {
    if (!known.has(collection)) known.set(collection, rowsIn(collection));
    return known.get(collection);
  };
}

function rowsOf(node: CollectionNode, { table, fields }: Table, copies: ReadonlyMap<Identity, number>): Rows {
  const identityOf = (field: string): Identity => node.identities.fields.get(field) ?? '';
  const copyOf = (field: string): Sql | undefined => {
    const position = fields.has(identityOf(field)) ? undefined : copies.get(identityOf(field));
    return position === undefined ? undefined : qualified(trash(position), COPY);
  };
  let key: Identity[] | undefined;
  return {
    table,
    from(field) {
      const copy = copyOf(field);
      if (copy === undefined) return sql`${table} m`;
      key ??= primaryKeyOf(node).map((each) => identityOf(each.field));
      const matches = key.map((each) => sql`m.${ident(fields.get(each)?.field ?? '')} = k.${ident(each)}`);
      return sql`${table} m LEFT JOIN ${copy} k ON ${join(matches, sql` AND `)}`;
    },
    column(field) {
      const there = fields.get(identityOf(field));
      if (there?.schema) {
        const { field: name, schema } = there;
        return { name, sql: sql`m.${ident(name)}`, isNullable: schema.is_nullable };
      }
      if (copyOf(field) === undefined) return undefined;
      return { name: '', sql: sql`k.${ident(identityOf(field))}`, isNullable: true };
    },
  };
}

const systemRows = (table: Sql): Rows => ({
  table,
  from: () => sql`${table} m`,
  column: (name) => ({ name, sql: sql`m.${ident(name)}`, isNullable: false }),
});

/** Restored tables, and positions that hold the values of restored columns. */
function* takenBy({ events }: Planned): Resumable<{ restored: Map<Identity, Table>; copies: Map<Identity, number> }> {
  const restored = new Map<Identity, Table>();
  const copies = new Map<Identity, number>();
  for (const event of events) {
    yield;
    if (event.type === 'collection.created') {
      const taken = takenFromTrash(event.data);
      if (taken !== undefined) restored.set(taken.identity, tableIn(taken, event.data.fields));
    } else if (event.type === 'field.created') {
      const taken = takenFromTrash(event.data);
      if (taken !== undefined) copies.set(taken.identity, taken.position);
    }
  }
  return { restored, copies };
}

const tableIn = ({ position, name, fields: identities }: RestoredCollection, fields: readonly Field[]): Table => ({
  table: qualified(trash(position), name),
  fields: new Map(fields.map((field, index) => [identities[index] ?? '', field])),
});

const byIdentity = ({ identities, fields }: CollectionNode): ReadonlyMap<Identity, Field> =>
  new Map([...fields].map(([name, field]) => [identities.fields.get(name) ?? '', field]));
