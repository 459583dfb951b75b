/** A long log without tables, written in large batches. */
import type pg from 'pg';
import { prepareEvents } from '../../src/log/append.js';
import { emptyHead } from '../../src/log/head.js';
import { sendBatch } from '../../src/postgres/exchange.js';
import type { Cause, NewEvent } from '../../src/schema/model/events.js';
import type { Collection, Field } from '../../src/schema/model/model.js';
import { defaultPrimaryKey, readNewCollection, readNewField } from '../../src/schema/normal-form/index.js';
import type { Result } from '../../src/kernel/problem.js';

const CAUSE: Cause = {
  actor: { id: '7f4cbd86-9a3f-4d0b-9f0a-3f1ff5d6b1c2', name: 'bench' },
  command: 'bench',
  reason: null,
  request_id: null,
  ip: '127.0.0.1',
  user_agent: 'bench',
};

const BATCH = 5_000;

/** For each collection: creation with two fields, seven fields added one by one, ten metadata changes. */
const EVENTS_PER_COLLECTION = 18;

export async function fillLog(
  client: pg.ClientBase,
  count: number,
  events: Iterable<NewEvent> = history(Math.ceil(count / EVENTS_PER_COLLECTION)),
): Promise<void> {
  let head = emptyHead();
  let batch: NewEvent[] = [];
  let written = 0;
  const write = async (): Promise<void> => {
    const prepared = await prepareEvents({ head, events: batch, cause: CAUSE });
    await client.query('BEGIN');
    await sendBatch(client, prepared.statements);
    await client.query('COMMIT');
    ({ head } = prepared);
    batch = [];
  };
  for (const event of events) {
    if (written === count) break;
    written += 1;
    batch.push(event);
    if (batch.length === BATCH) await write();
  }
  if (batch.length > 0) await write();
  await client.query('ANALYZE service.service_events');
}

/** Collections of 20 fields, one event each. */
export function* wideHistory(collections: number): Generator<NewEvent> {
  for (let index = 0; index < collections; index += 1) {
    const name = `collection_${String(index).padStart(6, '0')}`;
    const fields = Array.from({ length: 19 }, (_, number) => field(name, `field_${number}`));
    yield created(collectionOf(name), [defaultPrimaryKey(name), ...fields]);
  }
}

function* history(collections: number): Generator<NewEvent> {
  for (let index = 0; index < collections; index += 1) {
    const name = `collection_${String(index).padStart(6, '0')}`;
    yield created(collectionOf(name), [defaultPrimaryKey(name), field(name, 'title')]);
    for (let number = 1; number <= 7; number += 1) {
      yield {
        type: 'field.created',
        version: 1,
        collection: name,
        field: `field_${number}`,
        data: { field: field(name, `field_${number}`) },
      };
    }
    for (let number = 0; number < 10; number += 1) {
      const changed = `field_${(number % 7) + 1}`;
      const patch = [
        { op: 'replace' as const, path: '/meta/note', value: `The ${changed} of an item, text ${number}` },
      ];
      yield { type: 'field.updated', version: 1, collection: name, field: changed, data: { patch } };
    }
  }
}

function collectionOf(name: string): Collection {
  const meta = { icon: 'box', note: 'measured' };
  return must(readNewCollection({ collection: name, meta, schema: {} }, [], { imported: false }));
}

const created = (collection: Collection, fields: Field[]): NewEvent => ({
  type: 'collection.created',
  version: 1,
  collection: collection.collection,
  field: null,
  data: { collection, fields },
});

function field(collection: string, name: string): Field {
  const meta = { interface: 'input', note: `The ${name} of an item`, options: { placeholder: name } };
  return must(readNewField({ collection, field: name, type: 'string', meta, schema: {} }, [], { imported: false }));
}

function must<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.value;
}
