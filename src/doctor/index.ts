/** All checks in order. Checks that an earlier finding prevents are skipped. */
import { checkProvider } from '../features/accounts/oidc.js';
import { quoteName, visibleText } from '../kernel/text.js';
import { findScratchFault } from '../pipeline/transaction/prove.js';
import { nameOwnSchema } from '../postgres/own-tables.js';
import type { Queryable } from '../postgres/pool.js';
import { type Check, type DoctorContext, type Finding, finding } from './check.js';
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

/* Checks of the systems that the service works with. If they fail, schema changes still work. */

/** A provider that does not respond prevents sign-ins only, so the finding is a warning. */
const provider: Check = {
  name: 'OpenID provider',
  async run({ config: { oidc } }) {
    if (oidc === null) return [];
    return checkProvider(oidc).then(
      () => [],
      (error: unknown) => [
        finding(
          'PROVIDER_UNUSABLE',
          `The OpenID provider ${quoteName(oidc.issuer)} cannot be used: ${(error as Error).message}.`,
        ),
      ],
    );
  },
};

const scratchServer: Check = {
  name: 'server for proofs',
  async run({ config: { proveDatabaseUrl: url }, pool }) {
    const fault = url === null ? null : await findScratchFault({ pool, url });
    return fault === null ? [] : [finding('PROVE_SERVER_UNUSABLE', `No change can be proved. ${fault}`)];
  },
};

const collector: Check = {
  name: 'trace collector',
  async run({ config: { traces }, tools }) {
    const { endpoint } = traces;
    if (endpoint === null) return [];
    return tools.testExport({ ...traces, endpoint }).then(
      () => [],
      (error: unknown) => [
        finding('TRACES_LOST', `The collector ${quoteName(endpoint)} accepts no traces: ${(error as Error).message}.`),
      ],
    );
  },
};

/**
 * PostgREST sets this name on all its connections, unless PGRST_DB_URI sets a different one. Every role sees the names
 * of all sessions.
 */
const SESSIONS = `
  SELECT DISTINCT a.usesysid AS oid FROM pg_catalog.pg_stat_activity a
   WHERE a.datname = pg_catalog.current_database() AND pg_catalog.starts_with(a.application_name, 'PostgREST')`;

/** An event trigger that notifies PostgREST replaces the setting, as the manual of PostgREST describes. */
const CONNECTED = `
  SELECT (SELECT pg_catalog.count(*)::int FROM (${SESSIONS}) s) AS logins,
         EXISTS (SELECT FROM pg_catalog.pg_event_trigger t JOIN pg_catalog.pg_proc p ON p.oid = t.evtfoid
                  WHERE t.evtenabled <> 'D' AND pg_catalog.strpos(p.prosrc, 'pgrst') > 0) AS notified`;

/**
 * Selects the roles with which PostgREST can read or write a table of the service: those with which it connects, and
 * those to which it can switch.
 */
const PRIVILEGED = `
  SELECT login.rolname::text AS login, r.rolname::text AS role, t.name AS table
    FROM (${SESSIONS}) s JOIN pg_catalog.pg_roles login ON login.oid = s.oid
    JOIN pg_catalog.pg_roles r ON pg_catalog.pg_has_role(login.oid, r.oid, 'MEMBER')
   CROSS JOIN LATERAL (
      SELECT pg_catalog.min(c.relname::text) AS name
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
         AND pg_catalog.has_schema_privilege(r.oid, n.oid, 'USAGE')
         AND (pg_catalog.has_any_column_privilege(r.oid, c.oid, 'SELECT, INSERT, UPDATE')
              OR pg_catalog.has_table_privilege(r.oid, c.oid, 'DELETE, TRUNCATE'))
   ) t
   WHERE t.name IS NOT NULL
   ORDER BY login.rolname, r.oid <> login.oid, r.rolname`;

const postgrest: Check = {
  name: 'PostgREST',
  // A standby delivers no notifications.
  needsPrimary: true,
  async run({ pool, config: { notifyPostgrest, serviceSchema } }) {
    const { rows } = await pool.query<{ logins: number; notified: boolean }>(CONNECTED);
    const { logins, notified } = rows[0] as { logins: number; notified: boolean };
    if (logins === 0) {
      if (!notifyPostgrest) return [];
      return [finding('POSTGREST_MISSING', 'NOTIFY_POSTGREST is on, but no PostgREST is connected to the database.')];
    }
    const missed =
      'PostgREST is connected to the database, but NOTIFY_POSTGREST is off, so PostgREST does not notice changes.';
    return [
      ...(notifyPostgrest || notified ? [] : [finding('POSTGREST_UNNOTIFIED', missed)]),
      ...(await findPrivileged(pool, serviceSchema)),
    ];
  },
};

async function findPrivileged(db: Queryable, serviceSchema: string): Promise<Finding[]> {
  const { rows } = await db.query<{ login: string; role: string; table: string }>(PRIVILEGED, [serviceSchema]);
  const logins = [...new Set(rows.map(({ login }) => login))];
  return logins.flatMap((login) => {
    const [first, ...others] = rows.filter((row) => row.login === login);
    if (first === undefined) return [];
    const access = `which has privileges on ${quoteName(`${serviceSchema}.${first.table}`)}`;
    const switches = first.role === login ? '' : ` and can switch to ${quoteName(first.role)}`;
    const more = others.length === 0 ? '' : ` The same applies to ${others.length} more of its roles.`;
    const message = `PostgREST connects as ${quoteName(login)}${switches}, ${access}.${more}`;
    return [finding('POSTGREST_PRIVILEGED', visibleText(message))];
  });
}

/* All checks. */

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
  scratchServer,
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
