import type { Queryable } from '../../postgres/pool.js';
import { tableOfRows, takesLong } from '../../schema/findings/planned-statement.js';
import { offendingOf } from './offending.js';
import { obstacleTo } from './obstacles.js';
import { type Prepared, preparedOf } from './preparables.js';
import { stepsOf } from './steps.js';
import { readTableFacts } from './table-facts.js';
import type { Statement } from '../ddl/statement.js';
import type { DecidedChange, Preparation } from './types.js';
import { warningOf } from './warnings.js';

export interface PlanOptions {
  /** Size in bytes of a table that is read quickly. Nothing is prepared on it. */
  smallTable: number;
}

/** @see PreparationEngine.planPreparation */
export async function planPreparation(
  client: Queryable,
  change: DecidedChange,
  { smallTable }: PlanOptions,
): Promise<Preparation> {
  const lengthy = change.statements.filter(takesLong);
  const before = namesBefore(change);
  const tableBefore = (statement: Statement): string => before.get(tableOfRows(statement)) ?? tableOfRows(statement);
  const facts = await readTableFacts(client, {
    schema: change.schema,
    tables: [...new Set(lengthy.map(tableBefore))],
    exact: true,
  });
  const large = lengthy.flatMap((statement) => {
    const of = facts.get(tableBefore(statement));
    return of !== undefined && (of.bytes ?? 0) > smallTable
      ? [{ statement, facts: of, prepared: preparedOf(statement) }]
      : [];
  });
  if (large.length === 0) return { kind: 'nothing' };
  const version = await serverVersion(client);
  const problems = large.flatMap((each) => obstacleTo({ ...each, change, version }) ?? []);
  if (problems.length > 0) return { kind: 'not possible', problems };
  const notNullBy = version >= 180_000 ? 'constraint' : 'check';
  const steps = large.flatMap(({ statement, prepared, facts: size }) => {
    if (prepared === undefined) return [];
    return stepsOf({ prepared, statement, size, notNullBy, offending: offendingOf(change, statement, prepared) });
  });
  const all = large.flatMap(({ prepared }) => prepared ?? []);
  return {
    kind: 'steps',
    steps,
    collections: [...new Set(all.flatMap(tablesOf))].sort(),
    warnings: large.flatMap(({ statement, prepared }) =>
      prepared === undefined ? [] : [warningOf(statement, prepared)],
    ),
  };
}

/** Maps the name that the change gives a table to its name in the catalog. */
function namesBefore({ events }: DecidedChange): Map<string, string> {
  const names = new Map<string, string>();
  for (const event of events) {
    if (event.type === 'collection.renamed') names.set(event.data.to, names.get(event.collection) ?? event.collection);
  }
  return names;
}

const tablesOf = ({ table, what }: Prepared): string[] =>
  what.kind === 'constraint' && what.references !== null ? [table, what.references] : [table];

async function serverVersion(client: Queryable): Promise<number> {
  const { rows } = await client.query<{ version: number }>(
    `SELECT pg_catalog.current_setting('server_version_num')::int AS version`,
  );
  return rows[0]?.version ?? 0;
}
