/** Reasons why a statement on a large table cannot be prepared. */
import { jsonEqual } from '../../kernel/json.js';
import type { Problem } from '../../kernel/problem.js';
import { hasColumn, type CollectionNode } from '../../schema/model/state.js';
import type { Field } from '../../schema/model/model.js';
import { columnTypeSql } from '../ddl/column.js';
import { primaryKeyColumns } from '../ddl/create-table.js';
import { ident } from '../ddl/sql.js';
import type { Statement } from '../ddl/statement.js';
import type { Prepared } from './preparables.js';
import type { TableFacts } from './table-facts.js';
import type { DecidedChange } from './types.js';

export interface Judged {
  change: DecidedChange;
  statement: Statement;
  prepared: Prepared | undefined;
  facts: TableFacts;
  /** The value of `server_version_num`. */
  version: number;
}

/** Reported as `ONLINE_NOT_POSSIBLE`; null if there is no obstacle. */
export function obstacleTo(judged: Judged): Problem | null {
  const { statement, prepared } = judged;
  const reason = statement.rewrites_table
    ? 'PostgreSQL rewrites the whole table for it'
    : prepared === undefined
      ? 'PostgreSQL reads the whole table under its lock, and has no way to do that before'
      : reasonOf(judged, prepared);
  if (reason === null) return null;
  const { collection, field } = statement.source;
  const message = `It is not possible online to ${statement.summary}: ${reason}. Send it without online, or leave it out.`;
  return { code: 'ONLINE_NOT_POSSIBLE', message, collection, ...(field !== null && { field }), details: { reason } };
}

function reasonOf(judged: Judged, prepared: Prepared): string | null {
  return reasonOfTable(judged, prepared) ?? reasonOfColumns(judged, prepared) ?? reasonOfTarget(judged, prepared);
}

/** Limitations of PostgreSQL with partitions. */
function reasonOfTable(judged: Judged, { what }: Prepared): string | null {
  const { facts, version } = judged;
  if (what.kind === 'copy') return reasonOfRows(facts);
  if (facts.kind === 'table') return null;
  if (what.kind === 'index' || what.kind === 'key')
    return 'PostgreSQL has no CREATE INDEX CONCURRENTLY for a partitioned table';
  if (what.kind === 'constraint' && what.references !== null && version < 180_000)
    return 'before release 18 PostgreSQL takes no NOT VALID foreign key of a partitioned table';
  return null;
}

/** Reasons why writes cannot be recorded or read. */
function reasonOfRows({ kind, related, subscribed, policed }: TableFacts): string | null {
  if (kind === 'partitioned' || related)
    return 'rows of the table come and go by statements on other tables, its partitions or those it inherits from';
  if (subscribed) return 'rows of the table come by logical replication, where what is written can not be noted';
  return policed ? "row level security is forced on the table's owner, so that not all rows can be read" : null;
}

/** Prepared objects need the columns to be the same before and after the change. */
function reasonOfColumns({ change }: Judged, { table, what }: Prepared): string | null {
  const [before, after] = [change.before, change.after].map(({ collections }) => collections.get(table));
  const isRenamed = change.events.some(
    ({ type, collection, data }) =>
      type === 'collection.renamed' && (collection === table || (data as { to?: unknown }).to === table),
  );
  if (before === undefined || after === undefined || isRenamed)
    return 'the same change renames the table: send that first, as a change of its own';
  const names = [...movingColumns(change, table, { before, after })];
  const moving = names.find((name) => needs(what, name));
  return moving === undefined
    ? null
    : `the same change makes, renames or alters the column ${JSON.stringify(moving)}: send that first, as a change of its own`;
}

/** Matches with or without quotes. A false match only rejects more. */
const mentions = (text: string, name: string): boolean => text.includes(name) || text.includes(ident(name));

function needs(what: Prepared['what'], name: string): boolean {
  if (what.kind === 'not null') return what.column === name;
  // Its own column is the one that is dropped.
  if (what.kind === 'copy') return what.key.some((each) => each.name === name);
  return mentions(what.definition, name);
}

interface Nodes {
  before: CollectionNode;
  after: CollectionNode;
}

/** Columns that do not exist before or after the change, or that change their name or type. */
function* movingColumns({ events }: DecidedChange, table: string, { before, after }: Nodes): Iterable<string> {
  for (const { type, collection, field, data } of events) {
    if (type !== 'field.renamed' || collection !== table) continue;
    yield field ?? '';
    yield String((data as { to?: unknown }).to);
  }
  for (const name of new Set([...before.fields.keys(), ...after.fields.keys()])) {
    if (madeOf(before.fields.get(name)) !== madeOf(after.fields.get(name))) yield name;
  }
}

/** The members that determine the values of a column. */
const madeOf = (field: Field | undefined): string =>
  hasColumn(field) ? `${columnTypeSql(field)} ${field.schema.generation_expression}` : '';

/** A foreign key needs the key that it references. */
function reasonOfTarget({ change }: Judged, { table, what }: Prepared): string | null {
  if (what.kind !== 'constraint' || what.references === null || what.references === table) return null;
  const [before, after] = [change.before, change.after].map(({ collections }) =>
    collections.get(what.references as string),
  );
  if (after === undefined && before === undefined) return null;
  if (before === undefined || after === undefined)
    return `the same change makes the table ${JSON.stringify(what.references)}: send that first, as a change of its own`;
  return jsonEqual(primaryKeyColumns(before), primaryKeyColumns(after))
    ? null
    : `the same change alters the primary key of ${JSON.stringify(what.references)}: send that first, as a change of its own`;
}
