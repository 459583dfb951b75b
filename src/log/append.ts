/** Appends events to the log. Only a transaction that holds the log lock may append. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Cause, LogEvent, StoredEvent } from '../schema/model/events.js';
import type { Parameterised } from '../postgres/exchange.js';
import { canonicalPieces, createCanonicalWriter } from '../kernel/canonical.js';
import { sha256 } from '../kernel/sha256.js';
import { type Hashed, commitmentTo, personalText, serializeAroundData } from './event-hash.js';
import type { Resumable } from '../kernel/resumable.js';
import type { LogHead } from './head.js';
import { own } from '../postgres/own-tables.js';
import { createTimeSlice, runYielding, yieldToEventLoop } from '../kernel/event-loop.js';

export interface Append {
  /** The end of the log, read under the lock. */
  head: LogHead;
  events: readonly LogEvent[];
  cause: Cause;
  /** The uuid of the batch. Defaults to a new one. */
  batch?: string;
  /** Defaults to the current time. If the clock was set back, the time of the head is used. */
  now?: Date;
}

export interface PreparedAppend {
  events: StoredEvent[];
  /** The end of the log after the append. */
  head: LogHead;
  /** The INSERT statements. There are several if the events are very large. */
  statements: Parameterised[];
}

/**
 * Maximum characters of JSON per INSERT. This is far below the limit of a jsonb value (256 MB) and bounds the copy in
 * memory.
 */
const CHARACTERS_PER_INSERT = 8_000_000;

const INSERT = `
  INSERT INTO ${own.events} (position, id, batch, type, version, collection, field, data, actor, command, reason,
                              request_id, ip, user_agent, context, subject, occurred_at, previous_hash, hash, salt,
                              commitment)
  SELECT e.position, e.id, $2::uuid, e.type, e.version, e.collection, e.field, e.data, $3::jsonb, $4::text,
         $5::text, $6::text, $7::text, $8::text, $9::jsonb, e.subject, $10::timestamptz, e.previous_hash, e.hash, e.salt,
         e.commitment
    FROM pg_catalog.jsonb_to_recordset($1) AS e (position bigint, id uuid, type text, version integer, collection text,
                                      field text, data jsonb, subject jsonb, previous_hash text, hash text, salt text,
                                      commitment text)`;

/** Size of the salt in bytes. */
const SALT_SIZE = 16;

/**
 * Assigns positions, ids and hashes to events, without I/O. It starts in a later turn of the event loop, so that bytes
 * that the caller has just written to a socket are sent first. Long work yields to the event loop.
 */
export async function prepareEvents(append: Append): Promise<PreparedAppend> {
  const { head, events, cause, batch = randomUUID(), now = new Date() } = append;
  const stamp = now.toISOString();
  const occurred_at = head.occurred_at !== null && head.occurred_at > stamp ? head.occurred_at : stamp;
  const common = { batch, occurred_at, ...toStorable(cause) };
  const stored: StoredEvent[] = [];
  const rows: string[] = [];
  const write = createCanonicalWriter();
  const hashOf = createSteppedHasher(write);
  const personal = personalText(common);
  const salts = randomBytes(events.length * SALT_SIZE).toString('hex');
  let { position, hash } = head;
  await yieldToEventLoop();
  const slice = createTimeSlice();
  for (const event of events) {
    if (slice.isOver()) await slice.yield();
    const salt = salts.slice(stored.length * SALT_SIZE * 2, (stored.length + 1) * SALT_SIZE * 2);
    const commitment = commitmentTo(personal, salt, sha256);
    position += 1;
    const placed = { ...common, ...event, position, id: randomUUID(), salt, commitment, previous_hash: hash };
    // One event may contain a collection with thousands of fields.
    const data = await runYielding(canonicalPieces(event.data, write), slice);
    hash = await runYielding(hashOf(placed, data), slice);
    stored.push({ ...placed, hash });
    rows.push(
      `{"position":${position},"id":"${placed.id}","type":"${event.type}","version":${event.version},` +
        `"collection":${JSON.stringify(event.collection)},"field":${JSON.stringify(event.field)},` +
        `"subject":${JSON.stringify(event.subject ?? null)},"previous_hash":"${placed.previous_hash}","hash":"${hash}",` +
        `"salt":"${salt}","commitment":"${commitment}","data":${data.join('')}}`,
    );
  }
  const shared = [
    batch,
    JSON.stringify(common.actor),
    common.command,
    common.reason,
    common.request_id,
    common.ip,
    common.user_agent,
    common.context === undefined ? null : JSON.stringify(common.context),
    occurred_at,
  ];
  return {
    events: stored,
    head: stored.length === 0 ? head : { position, hash, occurred_at },
    statements: chunks(rows).map((json) => ({ text: INSERT, values: [json, ...shared] })),
  };
}

/**
 * Returns the SHA-256 (hex) over the previous hash and the event in canonical JSON, see `serializeAroundData`.
 * jsonb does not preserve the order of members, and canonical JSON does not depend on it. So the hash can be recomputed
 * from the table. Each step hashes one piece of the data.
 */
function createSteppedHasher(write: (value: unknown) => string) {
  return function* (event: Omit<Hashed, 'data'>, data: readonly string[]): Resumable<string> {
    const { before, after } = serializeAroundData(event, write);
    const [only] = data;
    if (data.length === 1) return sha256(event.previous_hash + before + only + after);
    const digest = createHash('sha256').update(event.previous_hash + before);
    for (const piece of data) {
      digest.update(piece);
      yield;
    }
    return digest.update(after).digest('hex');
  };
}

function chunks(rows: readonly string[]): string[] {
  const lines: string[] = [];
  let gathered: string[] = [];
  let length = 0;
  for (const row of rows) {
    if (length > 0 && length + row.length > CHARACTERS_PER_INSERT) {
      lines.push(`[${gathered.join(',')}]`);
      gathered = [];
      length = 0;
    }
    gathered.push(row);
    length += row.length;
  }
  if (gathered.length > 0) lines.push(`[${gathered.join(',')}]`);
  return lines;
}

/**
 * Headers can contain text that PostgreSQL cannot store. Such text is replaced before hashing, so that the hash matches
 * what is stored.
 */
function toStorable(cause: Cause): Cause {
  return {
    actor: { id: toStorableText(cause.actor.id), name: optionalText(cause.actor.name) },
    command: cause.command,
    reason: optionalText(cause.reason),
    request_id: optionalText(cause.request_id),
    ip: optionalText(cause.ip),
    user_agent: optionalText(cause.user_agent),
    ...(cause.context && { context: cause.context }),
  };
}

function optionalText(value: string | null): string | null {
  return value === null ? null : toStorableText(value);
}

/** Replaces NUL and unpaired surrogates with U+FFFD. */
function toStorableText(value: string): string {
  return value.replaceAll(/\0|\p{Surrogate}/gu, '\uFFFD');
}
