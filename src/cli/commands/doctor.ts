import { formatCount } from '../../kernel/text.js';
import { OperatorError } from '../../kernel/problem.js';
import { containsServer } from '../../postgres/embedded/index.js';
import { type Addresses, toDirectOptions } from '../../postgres/pool.js';
import { PoolerError } from '../../postgres/open-database.js';
import { readServerState } from '../../postgres/server.js';
import { type ExitCode, type Invocation, isSet } from '../command.js';
import { openPool, withServer } from '../connections/database.js';
import { type Finding, finding } from '../../doctor/check.js';
import { type ExaminedCheck, examine } from '../../doctor/index.js';
import { json, createProgress } from '../output.js';
import { testExport } from '../../metrics/traces.js';
import { openProjectionTools } from '../connections/projections.js';

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
