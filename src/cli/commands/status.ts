import type pg from 'pg';
import { type Finding, finding } from '../../doctor/check.js';
import { type ExaminedCheck, examine } from '../../doctor/index.js';
import { type ProjectionStatus, listProjections } from '../../features/projections/index.js';
import { OperatorError } from '../../kernel/problem.js';
import { formatCount } from '../../kernel/text.js';
import { testExport } from '../../metrics/traces.js';
import { containsServer } from '../../postgres/embedded/index.js';
import { PoolerError } from '../../postgres/open-database.js';
import { own } from '../../postgres/own-tables.js';
import { type Addresses, toDirectOptions } from '../../postgres/pool.js';
import { readDatabase, type ServerState, readServerState } from '../../postgres/server.js';
import { readRelease } from '../../release.js';
import { locationText } from '../../schema/model/location.js';
import { type ExitCode, type Invocation, text, isSet } from '../command.js';
import { withLocation, withDatabase, openPool, withServer } from '../connections/database.js';
import { openProjectionTools } from '../connections/projections.js';
import { json, toOneLine, table, createProgress } from '../output.js';

/** Runs the service in this process, which ends on a signal or a fatal error. */
export async function start({ values, environment }: Invocation): Promise<ExitCode> {
  const options = { HOST: text(values, 'host'), PORT: text(values, 'port') };
  const settings = { ...withLocation(environment, values) };
  for (const [name, value] of Object.entries(options)) if (value !== undefined) settings[name] = value;
  for (const [name, value] of Object.entries(settings)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  process.setSourceMapsEnabled(true);
  await import('../../main.js');
  return 0;
}

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

/** Exit code 1 if a check finds an error. Warnings alone yield 0. */
export async function doctor(invocation: Invocation): Promise<ExitCode> {
  const { values, terminal } = invocation;
  const examined = await runChecks(invocation);
  const ok = examined.every(({ result }) => result !== 'error');
  terminal.print(isSet(values, 'json') ? json({ ok, checks: examined }) : describeChecks(examined));
  return ok ? 0 : 1;
}

async function runChecks(invocation: Invocation): Promise<ExaminedCheck[]> {
  const config = invocation.config();
  if (config.databaseUrl === null && !(await containsServer(config.dataDir))) {
    return [databaseCheck(finding('SERVICE_MISSING', `${config.dataDir} contains no embedded server.`))];
  }
  try {
    return await withServer(config, (_, addresses) => examineOn(invocation, addresses));
  } catch (error) {
    if (error instanceof PoolerError) return [databaseCheck(finding('POOLER_UNUSABLE', error.message))];
    if (!(error instanceof OperatorError)) throw error;
    return [databaseCheck(finding('DATABASE_UNREACHABLE', error.message))];
  }
}

async function examineOn(invocation: Invocation, addresses: Addresses): Promise<ExaminedCheck[]> {
  const config = invocation.config();
  const { connectionString } = toDirectOptions(addresses);
  const pool = openPool(connectionString, config);
  const tools = await openProjectionTools({ config, pool, connectionString });
  const progress = createProgress(invocation.terminal, 'hash chain');
  try {
    return await examine({
      config,
      addresses,
      pool,
      tools: { ...tools, testExport },
      onVerified: progress.at,
      server: await readServerState(pool),
      now: () => Date.now(),
    });
  } finally {
    progress.end();
    await tools.close();
    await pool.end();
  }
}

const databaseCheck = (unreachable: Finding): ExaminedCheck => ({
  name: 'database',
  result: 'error',
  findings: [unreachable],
});

/** Returns one line per check with its findings, and then the totals. */
export function describeChecks(examined: readonly ExaminedCheck[]): string {
  const lines = examined.flatMap(({ name, result, findings }) => [
    `${result.padEnd(8)} ${name}`,
    ...findings.flatMap(({ code, message, fix }) => [
      `         ${code}: ${message.replaceAll('\n', '\n         ')}`,
      `         Fix: ${fix}`,
    ]),
  ]);
  const count = examined.reduce((sum, { findings }) => sum + findings.length, 0);
  return [...lines, count === 0 ? 'No problems found.' : `${formatCount(count, 'finding')}.`].join('\n');
}
