/** A long generated log. The same size gives the same events, with a valid hash chain. */
import type pg from 'pg';
import { prepareEvents } from '../../../src/log/append.js';
import { type LogHead, emptyHead } from '../../../src/log/head.js';
import { sendBatch } from '../../../src/postgres/exchange.js';
import { type Cause, type NewEvent, newEvent } from '../../../src/schema/model/events.js';
import type { Collection, Field } from '../../../src/schema/model/model.js';
import { defaultPrimaryKey, readNewCollection, readNewField } from '../../../src/schema/normal-form/index.js';
import type { Result } from '../../../src/kernel/problem.js';

const CAUSE: Cause = {
  actor: { id: '7f4cbd86-9a3f-4d0b-9f0a-3f1ff5d6b1c2', name: 'Ada Lovelace' },
  command: 'update-fields',
  reason: 'made up for a benchmark',
  request_id: 'bench',
  ip: '127.0.0.1',
  user_agent: 'bench-history',
};

const TYPES = ['string', 'text', 'integer', 'boolean', 'timestamp', 'decimal'];

export interface GeneratedLog {
  events: number;
  collections: number;
  /** Per collection, including the primary key. */
  fields: number;
}

/**
 * Writes the log into service.service_events, which must be empty.
 * @param size events of one batch and transaction
 * @returns its end
 */
export async function writeLog(client: pg.ClientBase, log: GeneratedLog, size = 5_000): Promise<LogHead> {
  let head = emptyHead();
  let batch: NewEvent[] = [];
  const flush = async (): Promise<void> => {
    const now = new Date(Date.UTC(2026, 0, 1) + head.position * 10);
    const prepared = await prepareEvents({ head, events: batch, cause: CAUSE, now });
    await sendBatch(client, prepared.statements);
    head = prepared.head;
    batch = [];
  };
  for (const event of generateEvents(log)) {
    batch.push(event);
    if (batch.length === size) await flush();
  }
  if (batch.length > 0) await flush();
  return head;
}

/**
 * Creates all collections first, then their history: mostly field changes, some collection changes, and fields that are
 * added and deleted.
 */
function* generateEvents({ events, collections, fields }: GeneratedLog): Generator<NewEvent> {
  const random = generator(events);
  const extra = new Set<number>();
  for (let number = 0; number < collections; number += 1) yield creation(number, fields);
  for (let number = collections; number < events; number += 1) {
    yield change(number, { target: random(collections), kind: random(100), field: random(fields - 1), extra });
  }
}

interface Drawn {
  target: number;
  kind: number;
  field: number;
  /** Collections that have the temporary field. */
  extra: Set<number>;
}

function change(number: number, { target, kind, field, extra }: Drawn): NewEvent {
  const name = nameOf(target);
  if (kind < 15) {
    const patch = [{ op: 'replace' as const, path: '/meta/note', value: `note ${number}` }];
    return newEvent('collection.updated', name, null, { patch });
  }
  if (kind < 25) {
    if (extra.delete(target)) return newEvent('field.deleted', name, 'extra', {});
    extra.add(target);
    return newEvent('field.created', name, 'extra', { field: makeField(name, 'extra', 'string') });
  }
  const path = kind < 60 ? '/meta/note' : kind < 80 ? '/meta/sort' : '/schema/comment';
  const value = path === '/meta/sort' ? number : `changed by ${number}`;
  return newEvent('field.updated', name, `field_${field}`, { patch: [{ op: 'replace', path, value }] });
}

function creation(number: number, fields: number): NewEvent {
  const name = nameOf(number);
  const made = Array.from({ length: fields - 1 }, (_, index) =>
    makeField(name, `field_${index}`, TYPES[index % TYPES.length] as string),
  );
  const collection: Collection = must(readNewCollection({ collection: name, schema: {} }, [], { imported: false }));
  return newEvent('collection.created', name, null, { collection, fields: [defaultPrimaryKey(name), ...made] });
}

function makeField(collection: string, field: string, type: string): Field {
  const meta = { interface: 'input', note: `the ${field} of ${collection}`, width: 'half' };
  return must(readNewField({ collection, field, type, meta, schema: {} }, [], { imported: false }));
}

const nameOf = (number: number): string => `collection_${number}`;

function must<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new Error(JSON.stringify(result.problems));
}

/** Pseudorandom numbers below a bound, determined by the seed. */
export function generator(seed: number): (below: number) => number {
  let state = (seed * 2_654_435_761) >>> 0 || 1;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
