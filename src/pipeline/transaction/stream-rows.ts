/** Streams parts of a large batch before its end. */
import type pg from 'pg';
import { type Parameterised, sendBatch } from '../../postgres/exchange.js';
import type { LogEvent } from '../../schema/model/events.js';
import type { Problem } from '../../kernel/problem.js';
import { createTimeSlice, mapYielding, yieldToEventLoop } from '../../kernel/event-loop.js';

/** True if writing the rows takes longer than a round trip. */
export const isLarge = (events: readonly LogEvent[]): boolean => events.length > 100 || events.some(isWide);

const isWide = ({ data }: LogEvent): boolean => 'fields' in data && data.fields.length > 500;

interface DdlAndRows {
  /** The running DDL. Resolves with the errors of PostgreSQL, or null. */
  running: Promise<Problem[] | null>;
  rows(): Iterable<Parameterised>;
}

/** Sends the rows directly after the DDL, so that PostgreSQL writes them while this process hashes the events. */
export async function streamRows(client: pg.ClientBase, { running, rows }: DdlAndRows): Promise<Problem[] | null> {
  const [problems, statements] = await Promise.all([
    running,
    yieldToEventLoop().then(() => mapYielding(rows(), (each) => each, createTimeSlice())),
  ]);
  if (problems === null) await sendBatch(client, statements);
  return problems;
}
