/** Verifies the log: recomputes the hash chain, and compares the end of the log with known positions. */
import { createTimeSlice, runYielding } from '../kernel/event-loop.js';
import type { Resumable } from '../kernel/resumable.js';
import { sha256 } from '../kernel/sha256.js';
import { own } from '../postgres/own-tables.js';
import type { Queryable } from '../postgres/pool.js';
import { createPlanReplay } from '../schema/change-requests/replay-plans.js';
import { type DisallowedChange, createPolicyReplay } from '../schema/change-requests/replay-policy.js';
import type { Divergence, LogPosition } from '../schema/model/events.js';
import { checkHead, isInLog, readAcknowledgements, toDivergence } from './divergence.js';
import { findDamagedDocument } from './documents.js';
import { type Chain, createHashChain } from './event-hash.js';
import type { LogHead } from './head.js';
import { type EventRecord, readRecordPages } from './read.js';

export const createChain = (): Chain => createHashChain(sha256);

export interface Verification {
  ok: boolean;
  /** Number of verified events, without the broken one. */
  checked: number;
  /** The last verified event. */
  head: LogHead;
  /** Number of verified events whose personal data was erased. */
  erased: number;
  /** The first event that breaks the chain, or whose personal data is missing without an event that names it. */
  broken?: { position: number; reason: string };
  /** Listed in the order of the log. At most 100 are returned. */
  disallowed: DisallowedChange[];
}

interface VerifyOptions {
  /** Called with the number of verified events after each page. */
  onProgress?: (checked: number) => void;
}

/**
 * Recomputes the chain from the first event, and checks whether the policy allowed each change. Memory grows only with
 * the schema, open change requests and accounts. A truncated log is still a valid chain. Callers must compare `head`
 * with the positions of projections or backups.
 */
export async function verifyChain(db: Queryable, options: VerifyOptions = {}): Promise<Verification> {
  const chain = createChain();
  const policy = createPolicyReplay(createPlanReplay());
  const slice = createTimeSlice();

  function* add(page: readonly EventRecord[]): Resumable<Verification['broken']> {
    for (const event of page) {
      yield;
      const reason = chain.add(event);
      // If an event is missing, the result names its position, not that of its successor.
      if (reason !== null) return { position: Math.min(event.position, chain.head().position + 1), reason };
      yield* policy.add(event);
    }
    return undefined;
  }

  let broken: Verification['broken'];
  for await (const page of readRecordPages(db, { after: 0 })) {
    broken = await runYielding(add(page), slice);
    if (broken !== undefined) break;
    options.onProgress?.(chain.head().position);
  }
  broken ??= chain.end() ?? undefined;
  const head = chain.head();
  const disallowed = await runYielding(policy.end(), slice);
  const ok = broken === undefined && disallowed.length === 0;
  return { ok, checked: head.position, erased: chain.erased(), head, ...(broken && { broken }), disallowed };
}

/* Checks that the triggers of db/0001_service_tables.sql still reject changes to accepted events. */

/** The expected body of service_refuse_change(), without whitespace. */
const REFUSE_CHANGE =
  "BEGIN IF TG_OP = 'UPDATE' AND pg_catalog.current_setting('service.erasure', true) = 'on' THEN RETURN NULL; END IF; " +
  `RAISE EXCEPTION 'table "%" is append-only: % is not allowed', TG_TABLE_NAME, TG_OP ` +
  "USING ERRCODE = 'insufficient_privilege', HINT = 'Correct a mistake with a new event.'; END";

/** The expected body of service_only_erase(), without whitespace. */
const ONLY_ERASE =
  "BEGIN IF pg_catalog.current_setting('service.erasure', true) = 'on' THEN " +
  "OLD.actor := pg_catalog.jsonb_build_object('id', OLD.actor -> 'id', 'name', NULL); " +
  'OLD.reason := NULL; OLD.ip := NULL; OLD.user_agent := NULL; OLD.salt := NULL; ' +
  `IF NEW IS DISTINCT FROM OLD THEN RAISE EXCEPTION 'table "%" is append-only: an UPDATE that does more than erase personal data is not allowed', ` +
  "TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege', HINT = 'Correct a mistake with a new event.'; END IF; END IF; " +
  'RETURN NEW; END';

/**
 * Selects, for each operation, what prevents protection. Bits of tgtype: 1 FOR EACH ROW, 2 BEFORE, 8 DELETE, 16 UPDATE,
 * 32 TRUNCATE. With tgenabled A, a trigger also fires in sessions that apply replication.
 */
const TRIGGERS = `
SELECT o.operation,
       pg_catalog.count(t.oid) > 0 AS there,
       coalesce(pg_catalog.bool_or(t.tgenabled = 'A'), false) AS enabled,
       coalesce(pg_catalog.bool_or(t.tgenabled = 'A' AND pg_catalog.btrim(pg_catalog.regexp_replace(p.prosrc, '\\s+', ' ', 'g')) = o.body), false) AS refuses
  FROM (VALUES ('UPDATE', 16::int2, 2::int2, $1::text), ('UPDATE beyond an erasure', 16::int2, 3::int2, $2::text),
               ('DELETE', 8::int2, 2::int2, $1::text), ('TRUNCATE', 32::int2, 2::int2, $1::text)) AS o (operation, bit, level, body)
  LEFT JOIN pg_catalog.pg_trigger t
    ON t.tgrelid = '${own.events}'::regclass::oid AND NOT t.tgisinternal AND t.tgtype & o.bit > 0::int2 AND t.tgtype & 3::int2 = o.level
   AND t.tgqual IS NULL AND t.tgattr::text = ''
  LEFT JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid
 GROUP BY o.operation, o.bit, o.level ORDER BY o.bit DESC, o.level`;

interface Row {
  operation: string;
  there: boolean;
  enabled: boolean;
  refuses: boolean;
}

/**
 * Returns a sentence for each operation on events that PostgreSQL would not reject. Empty if the log is append-only.
 */
export async function findUnprotected(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<Row>(TRIGGERS, [REFUSE_CHANGE, ONLY_ERASE]);
  return rows
    .filter(({ refuses }) => !refuses)
    .map(({ operation, there, enabled }) => {
      const what = !there ? 'is missing' : !enabled ? 'is disabled' : 'runs an unexpected function';
      return `The trigger that rejects ${operation} of service_events ${what}.`;
    });
}

export interface LogVerification extends Verification {
  /** One sentence for each operation on accepted events that PostgreSQL would allow. `ok` is false if there is any. */
  unprotected: string[];
  /** All recorded divergences, in order. The log keeps them forever. */
  divergences: AcknowledgedDivergence[];
}

export interface AcknowledgedDivergence extends Divergence {
  /** Position of the event that acknowledged the divergence. Null if none did. */
  acknowledged: number | null;
}

/**
 * Recomputes the chain. A truncated or completely rewritten log is still a valid chain. The end of the log is therefore
 * compared with the checkpoints of projections, with recorded divergences and with `seen`, an end that this process
 * remembers.
 */
export async function verifyLog(
  db: Queryable,
  seen: LogPosition,
  options: VerifyOptions = {},
): Promise<LogVerification> {
  // This runs before the chain is read, so that events appended in the meantime do not matter.
  const { forgotten, pending } = await checkHead(db);
  const chain = await verifyChain(db, options);
  const noted = (pending ?? []).map((each) => ({ ...toDivergence(each), acknowledged: null }));
  const unprotected = await findUnprotected(db);
  const verified = {
    ...chain,
    ok: chain.ok && unprotected.length === 0,
    unprotected,
    divergences: [...(await readAcknowledged(db)), ...noted],
  };
  if (chain.broken !== undefined) return verified;
  const damaged = await findDamagedDocument(db, chain.head.position);
  if (damaged !== null) return { ...verified, ok: false, broken: damaged };
  for (const location of [forgotten, seen, ...noted.map((each) => each.seen)]) {
    if (location === null || (await isInLog(db, { position: location.position, hash: location.hash ?? '' }))) continue;
    return { ...verified, ok: false, broken: explainLoss(location, chain.head.position) };
  }
  return verified;
}

function explainLoss({ position }: LogPosition, end: number): NonNullable<Verification['broken']> {
  if (position > end) {
    return {
      position: end + 1,
      reason: `position ${end + 1} is missing: the log had continued to position ${position}`,
    };
  }
  return { position, reason: 'it is not the event that was read before: the log was rewritten' };
}

async function readAcknowledged(db: Queryable): Promise<AcknowledgedDivergence[]> {
  const acknowledgements = await readAcknowledgements(db);
  return acknowledgements.flatMap(({ position, divergences }) =>
    divergences.map((each) => ({ ...toDivergence(each), acknowledged: position })),
  );
}
