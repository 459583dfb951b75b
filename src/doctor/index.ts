/** All checks in order. Checks that an earlier finding prevents are skipped. */
import { type Check, type DoctorContext, type Finding, finding } from './check.js';
import { nameOwnSchema } from '../postgres/own-tables.js';
import {
  serviceTableDefinitions,
  chain,
  protection,
  readable,
  storedFolds,
  comparison,
  lag,
  preparations,
  trash,
  webhooks,
} from './state.js';
import {
  listening,
  pooler,
  standby,
  migrations,
  ownership,
  privileges,
  restoring,
  shadowing,
  clock,
  connections,
  database,
  locks,
  proxy,
  statistics,
  timeouts,
} from './database.js';
import { collector, postgrest, provider } from './connected.js';

export interface ExaminedCheck {
  name: string;
  /** `skipped` means that an earlier finding prevents the check, or that it needs a primary or a running service. */
  result: 'ok' | 'warning' | 'error' | 'skipped';
  findings: Finding[];
}

const CHECKS: readonly Check[] = [
  database,
  standby,
  locks,
  pooler,
  proxy,
  connections,
  timeouts,
  statistics,
  privileges,
  migrations,
  restoring,
  ownership,
  serviceTableDefinitions,
  shadowing,
  clock,
  protection,
  chain,
  listening,
  readable,
  storedFolds,
  comparison,
  trash,
  preparations,
  lag,
  webhooks,
  provider,
  collector,
  postgrest,
];

const isImpossible = ({ needsPrimary, needsService }: Check, { server, untrustedProxy }: DoctorContext): boolean =>
  (needsPrimary === true && server.standby) || (needsService === true && untrustedProxy === undefined);

/**
 * Returns one result per check, in order, and never throws. If a check itself fails, its result is the error
 * `CHECK_FAILED`. After a decisive error all further checks are `skipped`. On a standby, checks that need a primary are
 * skipped. Outside a running service, checks that need one are skipped.
 */
export async function examine(context: DoctorContext): Promise<ExaminedCheck[]> {
  const examined: ExaminedCheck[] = [];
  let stopped = false;
  for (const check of CHECKS) {
    const isSkipped: boolean = stopped || isImpossible(check, context);
    const findings: Finding[] = isSkipped ? [] : await runCheck(check, context);
    const result: ExaminedCheck['result'] = isSkipped ? 'skipped' : worstResult(findings);
    examined.push({ name: check.name, result, findings });
    stopped ||= check.decisive === true && result === 'error';
  }
  return examined;
}

async function runCheck(check: Check, context: DoctorContext): Promise<Finding[]> {
  try {
    const findings = await check.run(context);
    return findings.map((each) => ({
      ...each,
      message: nameOwnSchema(each.message, context.config.serviceSchema),
      fix: nameOwnSchema(each.fix, context.config.serviceSchema),
    }));
  } catch (error) {
    const why = context.explain?.(error, check.name) ?? (error as Error).message;
    return [finding('CHECK_FAILED', `The check "${check.name}" failed to run: ${why}.`)];
  }
}

function worstResult(findings: readonly Finding[]): 'ok' | 'warning' | 'error' {
  if (findings.some(({ severity }) => severity === 'error')) return 'error';
  return findings.length > 0 ? 'warning' : 'ok';
}
