/** The health check, for load balancers and people. */
import type { HealthCheck, HealthReport } from './http/deps.js';
import { limitTime } from './kernel/time.js';
import type { LogWatch } from './log/watch.js';
import type { Pipeline } from './pipeline/index.js';
import { DISK_FULL } from './postgres/errors.js';
import type { Queryable } from './postgres/pool.js';
import type { Freshness } from './reads/freshness.js';
import type { Store } from './reads/state-store.js';
import { own } from './postgres/own-tables.js';
import { schemasExist } from './postgres/schemas.js';
import { UnreadableEventError } from './schema/fold/upcasting.js';

export interface HealthDeps {
  freshness: Pick<Freshness, 'check'>;
  store: Pick<Store, 'atHead'>;
  pool: Queryable;
  watch: Pick<LogWatch, 'pending'>;
  pipeline: Pick<Pipeline, 'isDiskFull'>;
  /** The managed schemas. */
  schemas: readonly string[];
}

const LIMIT_MS = 3_000;

/** The returned function never throws. A check that fails or takes longer than 3 s is not `ok`. */
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

async function checkDatabase(
  head: Promise<unknown>,
  pool: Queryable,
  schemas: readonly string[],
): Promise<HealthCheck> {
  const { text, values } = schemasExist(schemas);
  try {
    const [{ rows }] = await limitTime(Promise.all([pool.query<{ there: boolean }>(text, values), head]), LIMIT_MS);
    if (rows[0]?.there === true) return { ok: true };
  } catch {
    return { ok: false, message: 'The database does not respond.' };
  }
  return {
    ok: false,
    message: 'The managed schema does not exist. Someone renamed or dropped it outside the service.',
  };
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

interface Stopped {
  name: string;
  at: string | null;
  sqlstate: string | null;
}

/** The health endpoint is public, so it shows neither collection names nor messages of PostgreSQL. */
const STOPPED = `
  select name, last_error ->> 'position'::text as at, last_error ->> 'sqlstate'::text as sqlstate
    from ${own.projections} where status = 'failed' order by name`;

async function checkProjections(pool: Queryable): Promise<HealthCheck> {
  try {
    const { rows } = await limitTime(pool.query<Stopped>(STOPPED), LIMIT_MS);
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
