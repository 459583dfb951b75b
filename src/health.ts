/** The health check, for load balancers and people. */
import type pg from 'pg';
import type { HealthCheck, HealthReport } from './http/deps.js';
import { limitTime } from './kernel/time.js';
import type { LogWatch } from './log/watch.js';
import type { Pipeline } from './pipeline/index.js';
import { DISK_FULL, READ_ONLY_BY_DEFAULT, ReadOnlyServerError } from './postgres/errors.js';
import { withClient } from './postgres/pool.js';
import type { Freshness } from './reads/freshness.js';
import type { Store } from './reads/state-store.js';
import { own } from './postgres/own-tables.js';
import { schemasExist } from './postgres/schemas.js';
import { UnreadableEventError } from './schema/fold/upcasting.js';

export interface HealthDeps {
  freshness: Pick<Freshness, 'check'>;
  store: Pick<Store, 'atHead'>;
  pool: pg.Pool;
  watch: Pick<LogWatch, 'pending'>;
  pipeline: Pick<Pipeline, 'isDiskFull'>;
  /** The managed schemas. */
  schemas: readonly string[];
}

const LIMIT_MS = 3_000;

/** Creates the health check, which never throws. A check that fails or takes longer than 3 s is not `ok`. */
export function createHealth({
  freshness,
  store,
  pool,
  watch,
  pipeline,
  schemas,
}: HealthDeps): () => Promise<HealthReport> {
  return async () => {
    const head = freshness.check().then((fresh) => fresh.head);
    const [database, log, projections] = await Promise.all([
      pipeline.isDiskFull() ? { ok: false, message: DISK_FULL } : checkDatabase(head, pool, schemas),
      checkLog(
        head.then((position) => store.atHead(position)),
        watch,
      ),
      checkProjections(pool),
    ]);
    return { database, log, projections };
  };
}

const UNREACHABLE = 'The database does not respond.';

async function checkDatabase(head: Promise<unknown>, pool: pg.Pool, schemas: readonly string[]): Promise<HealthCheck> {
  try {
    const [hasSchemas] = await limitTime(Promise.all([checkSession(pool, schemas), head]), LIMIT_MS);
    if (hasSchemas) return { ok: true };
  } catch (error) {
    return { ok: false, message: error instanceof ReadOnlyServerError ? READ_ONLY_BY_DEFAULT : UNREACHABLE };
  }
  return {
    ok: false,
    message: 'The managed schema does not exist. Someone renamed or dropped it outside the service.',
  };
}

const IS_READ_ONLY = `
  SELECT pg_catalog.current_setting('default_transaction_read_only') = 'on' AND NOT pg_catalog.pg_is_in_recovery() AS is_read_only`;

/**
 * @returns true if all managed schemas exist
 * @throws ReadOnlyServerError on a primary that rejects changes. This closes the connection, because a session keeps
 * the setting that it began with.
 */
function checkSession(pool: pg.Pool, schemas: readonly string[]): Promise<boolean> {
  const { text, values } = schemasExist(schemas);
  return withClient(pool, async (client) => {
    const { rows } = await client.query<{ there: boolean }>(text, values);
    const settings = await client.query<{ is_read_only: boolean }>(IS_READ_ONLY);
    if (settings.rows[0]?.is_read_only === true) throw new ReadOnlyServerError(READ_ONLY_BY_DEFAULT);
    return rows[0]?.there === true;
  });
}

async function checkLog(read: Promise<unknown>, watch: HealthDeps['watch']): Promise<HealthCheck> {
  const unread = await limitTime(read, LIMIT_MS).then(
    () => null,
    (error: unknown) => (error instanceof UnreadableEventError ? ` at position ${error.position}` : ''),
  );
  if (unread !== null) return { ok: false, message: `The log cannot be read${unread}.` };
  const pending = watch.pending();
  if (pending === undefined) return { ok: true };
  const { seen, found } = pending;
  const what = `position ${seen.position} was read before and is missing; the log ends at ${found.position} now`;
  return {
    ok: false,
    message: `The log has forked: ${what}. Verify it, then run "dps acknowledge-log".`,
  };
}

interface FailedProjection {
  name: string;
  at: string | null;
  sqlstate: string | null;
}

/** The health endpoint is public, so it shows neither collection names nor messages of PostgreSQL. */
const STOPPED = `
  select name, last_error ->> 'position'::text as at, last_error ->> 'sqlstate'::text as sqlstate
    from ${own.projections} where status = 'failed' order by name`;

async function checkProjections(pool: pg.Pool): Promise<HealthCheck> {
  try {
    const { rows } = await limitTime(pool.query<FailedProjection>(STOPPED), LIMIT_MS);
    if (rows.length === 0) return { ok: true };
    const stopped = rows.map(({ name, at, sqlstate }) => `${name} at event ${at} (SQLSTATE ${sqlstate ?? 'none'})`);
    return {
      ok: false,
      message: `Stopped: ${stopped.join(', ')}. GET /projections or "dps status" shows the next step.`,
    };
  } catch {
    return { ok: false, message: 'The projections cannot be read.' };
  }
}
