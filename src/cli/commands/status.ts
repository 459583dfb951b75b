import type pg from 'pg';
import { readDatabase, type ServerState, readServerState } from '../../postgres/server.js';
import { type ProjectionStatus, listProjections } from '../../features/projections/index.js';
import { readRelease } from '../../release.js';
import { type ExitCode, type Invocation, isSet } from '../command.js';
import { withDatabase } from '../connections/database.js';
import { own } from '../../postgres/own-tables.js';
import { locationText } from '../../schema/model/location.js';
import { json, toOneLine, table } from '../output.js';

/** Exit code 1 if a projection has failed. */
export async function status(invocation: Invocation): Promise<ExitCode> {
  const { values, terminal } = invocation;
  const config = invocation.config();
  const report = await withDatabase(config, (pool) => readStatus(pool, config.schema));
  terminal.print(isSet(values, 'json') ? json(report) : describeStatus(report));
  return report.projections.some((projection) => projection.status === 'failed') ? 1 : 0;
}

export interface Status {
  release: string;
  database: { name: string; version: string; schema: string } & ServerState;
  log: { position: number; hash: string | null; occurred_at: string | null; actor: string | null };
  rows: { collections: number; fields: number; relations: number };
  projections: ProjectionStatus[];
}

const LAST = `SELECT hash, occurred_at, actor ->> 'name'::text AS actor FROM ${own.events} WHERE position = $1`;

const ROWS = `
  SELECT (SELECT count(*) FROM ${own.collections})::int AS collections,
         (SELECT count(*) FROM ${own.fields})::int AS fields,
         (SELECT count(*) FROM ${own.relations})::int AS relations`;

async function readStatus(pool: pg.Pool, schema: string): Promise<Status> {
  const { database, version } = await readDatabase(pool);
  const { head, projections } = await listProjections(pool);
  const last = await pool.query<{ hash: string; occurred_at: Date; actor: string | null }>(LAST, [head]);
  const rows = await pool.query<Status['rows']>(ROWS);
  const [event] = last.rows;
  return {
    release: readRelease(),
    database: { name: database, version, schema, ...(await readServerState(pool)) },
    log: {
      position: head,
      hash: event?.hash ?? null,
      occurred_at: event?.occurred_at.toISOString() ?? null,
      actor: event?.actor ?? null,
    },
    rows: rows.rows[0] as Status['rows'],
    projections,
  };
}

const seconds = (lag: number): string => String(Math.ceil(lag * 1000) / 1000);

/** Returns lines about the service, the log and the rows, then a table of projections and their failures. */
export function describeStatus({ release, database, log, rows, projections }: Status): string {
  const change =
    log.occurred_at === null
      ? 'no changes yet'
      : `last change ${log.occurred_at} by ${toOneLine(log.actor ?? 'unknown')}`;
  return [
    `service   release ${release}, PostgreSQL ${database.version}, database "${database.name}", schema "${database.schema}"`,
    `log       position ${log.position}, ${change}`,
    ...(database.standby ? [`standby   at most ${seconds(database.lag)} s behind its primary`] : []),
    `rows      ${rows.collections} collections, ${rows.fields} fields, ${rows.relations} relations`,
    '',
    table(
      ['projection', 'kind', 'position', 'lag', 'status', 'updated'],
      projections.map((each) => [
        each.name,
        each.kind,
        String(each.position),
        String(each.lag),
        each.status,
        each.updated_at ?? 'never',
      ]),
    ),
    ...projections.flatMap(describeFailure),
  ].join('\n');
}

function describeFailure({ name, last_error: error }: ProjectionStatus): string[] {
  if (error === null) return [];
  const { position, event, sqlstate, message, attempts, next } = error;
  const location = locationText(error);
  const what =
    event === null
      ? location
      : `${event.type} ${location}, ${event.occurred_at}, by ${toOneLine(event.actor ?? 'unknown')}`;
  return [
    '',
    `${name} stopped at event ${position} (${what}) after ${attempts} attempts.`,
    `  PostgreSQL reported: ${message}${sqlstate === null ? '' : ` (SQLSTATE ${sqlstate})`}`,
    `  Next: ${next}`,
  ];
}
