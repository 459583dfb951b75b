/** Whether the service can do its work: for load balancers and people. */
import type { HealthCheck, HealthReport } from './http/deps.js';
import { inTime } from './kernel/in-time.js';
import type { Queryable } from './postgres/pool.js';
import type { Freshness } from './reads/freshness.js';
import type { Store } from './reads/store.js';

export interface HealthDeps {
  freshness: Pick<Freshness, 'check'>;
  store: Pick<Store, 'atHead'>;
  pool: Queryable;
}

const LIMIT_MS = 3_000;

export function createHealth({ freshness, store, pool }: HealthDeps): () => Promise<HealthReport> {
  return async () => {
    const head = freshness.check().then((fresh) => fresh.head);
    const [database, log, projections] = await Promise.all([
      check(head, 'The database does not answer.'),
      check(
        head.then((position) => store.atHead(position)),
        'The log can not be read.',
      ),
      checkProjections(pool),
    ]);
    return { database, log, projections };
  };
}

async function check(work: Promise<unknown>, failure: string): Promise<HealthCheck> {
  return inTime(work, LIMIT_MS).then(
    () => ({ ok: true }),
    () => ({ ok: false, message: failure }),
  );
}

interface Stopped {
  name: string;
  at: string | null;
  sqlstate: string | null;
}

/** Anybody may ask for the health: neither names of collections nor PostgreSQL's sentences are told here. */
const STOPPED = `
  select name, last_error ->> 'position' as at, last_error ->> 'sqlstate' as sqlstate
    from service_projections where status = 'failed' order by name`;

async function checkProjections(pool: Queryable): Promise<HealthCheck> {
  try {
    const { rows } = await inTime(pool.query<Stopped>(STOPPED), LIMIT_MS);
    if (rows.length === 0) return { ok: true };
    const stopped = rows.map(({ name, at, sqlstate }) => `${name} at event ${at} (SQLSTATE ${sqlstate ?? 'none'})`);
    return { ok: false, message: `Stopped: ${stopped.join(', ')}. GET /projections or "dps status" say what to do.` };
  } catch {
    return { ok: false, message: 'The projections can not be read.' };
  }
}
