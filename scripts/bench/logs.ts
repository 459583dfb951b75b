/** Long generated logs without their tables. The same size produces the same events, with a valid hash chain. */
import type pg from 'pg';
import type { Result } from '../../src/kernel/problem.js';
import { prepareEvents } from '../../src/log/append.js';
import { type LogHead, emptyHead } from '../../src/log/head.js';
import { sendBatch } from '../../src/postgres/exchange.js';
import { type Cause, type NewEvent, newEvent } from '../../src/schema/model/events.js';
import type { Collection, Field } from '../../src/schema/model/model.js';
import { defaultPrimaryKey, readNewCollection, readNewField } from '../../src/schema/normal-form/index.js';

const CAUSE: Cause = {
  actor: { id: '7f4cbd86-9a3f-4d0b-9f0a-3f1ff5d6b1c2', name: 'Ada Lovelace' },
  command: 'update-fields',
  reason: 'written for a benchmark',
  request_id: 'bench',
  ip: '127.0.0.1',
  user_agent: 'bench',
};

/** Milliseconds between two events. */
const PACE = 10;

/**
 * Appends events to service.service_events, which must be empty.
 * @param size number of events per batch and transaction
 * @returns the end of the log
 */
export async function writeEvents(client: pg.ClientBase, events: Iterable<NewEvent>, size = 5_000): Promise<LogHead> {
  let head = emptyHead();
  let batch: NewEvent[] = [];
  const flush = async (): Promise<void> => {
    const now = new Date(Date.UTC(2026, 0, 1) + head.position * PACE);
    const prepared = await prepareEvents({ head, events: batch, cause: CAUSE, now });
    await client.query('BEGIN');
    await sendBatch(client, prepared.statements);
    await client.query('COMMIT');
    head = prepared.head;
    batch = [];
  };
  for (const event of events) {
    batch.push(event);
    if (batch.length === size) await flush();
  }
  if (batch.length > 0) await flush();
  await client.query('ANALYZE service.service_events');
  return head;
}

export interface GeneratedLog {
  events: number;
  collections: number;
  /** Per collection, including the primary key. */
  fields: number;
}

/**
 * Creates all collections first, then their history: mostly field changes, some collection changes, and fields that are
 * added and deleted.
 */
export function* generatedHistory({ events, collections, fields }: GeneratedLog): Generator<NewEvent> {
  const random = generator(events);
  const extra = new Set<number>();
  for (let number = 0; number < collections; number += 1) {
    const name = `collection_${number}`;
    const types = Array.from({ length: fields - 1 }, (_, index) => TYPES[index % TYPES.length] as string);
    const made = types.map((type, index) => fieldOf(name, `field_${index}`, type));
    yield created(name, [defaultPrimaryKey(name), ...made]);
  }
  for (let number = collections; number < events; number += 1)
    yield change(number, { target: random(collections), kind: random(100), field: random(fields - 1), extra });
}

const TYPES = ['string', 'text', 'integer', 'boolean', 'timestamp', 'decimal'];

interface Drawn {
  target: number;
  kind: number;
  field: number;
  /** Collections that have the temporary field. */
  extra: Set<number>;
}

function change(number: number, { target, kind, field, extra }: Drawn): NewEvent {
  const name = `collection_${target}`;
  if (kind < 15) {
    const patch = [{ op: 'replace' as const, path: '/meta/note', value: `note ${number}` }];
    return newEvent('collection.updated', name, null, { patch });
  }
  if (kind < 25) {
    if (extra.delete(target)) return newEvent('field.deleted', name, 'extra', {});
    extra.add(target);
    return newEvent('field.created', name, 'extra', { field: fieldOf(name, 'extra') });
  }
  const path = kind < 60 ? '/meta/note' : kind < 80 ? '/meta/sort' : '/schema/comment';
  const value = path === '/meta/sort' ? number : `changed by ${number}`;
  return newEvent('field.updated', name, `field_${field}`, { patch: [{ op: 'replace', path, value }] });
}

/** Per collection: it is created with two fields, gets seven more one by one, and ten changes of their metadata. */
const EVENTS_PER_COLLECTION = 18;

/** Collections that grow with the log, one after the other. */
export function* growingHistory(events: number): Generator<NewEvent> {
  for (let number = 0; number < events; number += 1) {
    const name = numbered(Math.floor(number / EVENTS_PER_COLLECTION));
    const step = number % EVENTS_PER_COLLECTION;
    if (step === 0) yield created(name, [defaultPrimaryKey(name), fieldOf(name, 'title')]);
    else if (step <= 7)
      yield newEvent('field.created', name, `field_${step}`, { field: fieldOf(name, `field_${step}`) });
    else {
      const changed = `field_${((step - 8) % 7) + 1}`;
      const value = `The ${changed} of an item, text ${step}`;
      yield newEvent('field.updated', name, changed, { patch: [{ op: 'replace', path: '/meta/note', value }] });
    }
  }
}

/** Collections of 20 fields, one event each. */
export function* wideHistory(collections: number): Generator<NewEvent> {
  for (let index = 0; index < collections; index += 1) {
    const name = numbered(index);
    const fields = Array.from({ length: 19 }, (_, number) => fieldOf(name, `field_${number}`));
    yield created(name, [defaultPrimaryKey(name), ...fields]);
  }
}

const numbered = (index: number): string => `collection_${String(index).padStart(6, '0')}`;

function created(name: string, fields: Field[]): NewEvent {
  const body = { collection: name, meta: { icon: 'box', note: 'measured' }, schema: {} };
  const collection: Collection = must(readNewCollection(body, [], { imported: false }));
  return newEvent('collection.created', name, null, { collection, fields });
}

function fieldOf(collection: string, name: string, type = 'string'): Field {
  const meta = { interface: 'input', note: `The ${name} of an item`, options: { placeholder: name } };
  return must(readNewField({ collection, field: name, type, meta, schema: {} }, [], { imported: false }));
}

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
