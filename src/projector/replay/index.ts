/**
 * Replays a whole log into an empty database: events, tables and rows. It needs several transactions, because one
 * would need a lock per table. A mark in the database says that it is incomplete, and no service starts on it. The
 * last transaction removes the mark.
 */
import type pg from 'pg';
import { sendBatch } from '../../postgres/exchange.js';
import { ExchangeError } from '../../postgres/errors.js';
import { OperatorError } from '../../kernel/operator-error.js';
import type { Document } from '../../log/document-lines.js';
import { findDamagedDocument, keepDocuments } from '../../log/documents.js';
import { createChain } from '../../log/hash-chain.js';
import type { LogHead } from '../../log/head.js';
import type { EventRecord } from '../../log/read.js';
import { restoreEvents } from '../../log/restore-events.js';
import { logChannel } from '../../postgres/advisory.js';
import { unmarkRestoring } from '../../postgres/restoring.js';
import { runScript } from '../../postgres/script.js';
import type { LogEvent } from '../../schema/model/events.js';
import { evolve } from '../../schema/fold/evolve.js';
import { type State, initialState } from '../../schema/model/state.js';
import { transition } from '../../schema/transition/transition.js';
import { readEvent } from '../../schema/fold/upcasting.js';
import { ddlFailure } from '../refusals/ddl-failure.js';
import { readLockSettings } from '../refusals/too-few-locks.js';
import { rebuildMetadata } from '../metadata/rows.js';
import { foldChangesOf, replaceChanges } from '../change-requests/rebuild.js';
import { PROJECTION_NAMES } from '../projections/list.js';
import { type Verification, verify } from '../verify/index.js';
import { INDEX_PROJECTION } from '../verify/pending-indexes.js';
import { type Group, groupsOf } from './groups.js';
import { own } from '../../postgres/own-tables.js';
import type { ReplayTarget } from './target.js';
import { runToEnd } from '../../kernel/resumable.js';

export interface ReplayOptions {
  target: ReplayTarget;
  /** The log from its first event. */
  pages: AsyncIterable<EventRecord[]>;
  /**
   * `every-event`: tables go through all their changes. `end-state`: they are created in their final form, which is
   * faster after a long history.
   */
  tables: 'every-event' | 'end-state';
  /** The documents of the events read so far, each once. */
  documents?: () => Document[];
  /** Reports the last event whose tables were replayed. */
  onReplayed?: (position: number) => void;
  /** Reports tables created at the end. */
  onTables?: (done: number, total: number) => void;
  fill?: (client: pg.ClientBase, schema: string, state: State) => Promise<void>;
}

export interface Replayed {
  head: LogHead;
  collections: number;
  /** The number of DDL statements. */
  statements: number;
  verification: Verification;
  /** The first event whose document is missing or does not match its hash. */
  damaged: { position: number; reason: string } | null;
}

/** @throws OperatorError if the chain is broken or PostgreSQL rejects a statement; the database is unusable then */
export async function replay(options: ReplayOptions): Promise<Replayed> {
  const { target, tables } = options;
  const run = { ...options, statements: 0, state: initialState(), chain: createChain() };
  for await (const page of options.pages) {
    for (const event of page) check(run, event);
    if (tables === 'every-event') await replayPage(run, page);
    else await keepPage(run, page);
    await keepRead(run);
  }
  await keepRead(run);
  if (tables === 'end-state') await makeTables(run);
  await options.fill?.(target.client, target.schema, run.state);
  const head = run.chain.head();
  await finish(run, head);
  const verification = await verify(target.client, run.state, target.schema);
  const damaged = options.documents === undefined ? null : await findDamagedDocument(target.client, head.position);
  return { head, collections: run.state.collections.size, statements: run.statements, verification, damaged };
}

interface Run extends ReplayOptions {
  statements: number;
  state: State;
  chain: ReturnType<typeof createChain>;
}

function check({ chain }: Run, event: EventRecord): void {
  const reason = chain.add(event);
  if (reason === null) return;
  throw new OperatorError(
    `The log is broken at position ${event.position}: ${reason}. Nothing after it can be trusted.`,
  );
}

/** Replays events and their DDL group by group. */
async function replayPage(run: Run, page: readonly EventRecord[]): Promise<void> {
  let done = 0;
  for (const group of groupsOf(run.state, page.map(readEvent), run.target.schema)) {
    await inTransaction(run, async () => {
      await restoreEvents(run.target.client, page.slice(done, done + group.events.length));
      await runGroup(run, group);
    });
    done += group.events.length;
    run.state = group.after;
    run.onReplayed?.(run.state.position);
  }
}

async function keepPage(run: Run, page: readonly EventRecord[]): Promise<void> {
  for (const event of page) run.state = evolve(run.state, readEvent(event));
  await restoreEvents(run.target.client, page);
}

async function keepRead({ target: { client }, documents }: Run): Promise<void> {
  const read = documents?.() ?? [];
  if (read.length > 0) await sendBatch(client, keepDocuments(read));
}

async function makeTables(run: Run): Promise<void> {
  const events = runToEnd(transition(initialState(), run.state, run.state.collections.keys()));
  let done = 0;
  for (const group of groupsOf(initialState(), events, run.target.schema)) {
    await inTransaction(run, () => runGroup(run, group));
    done += group.events.length;
    run.onTables?.(done, events.length);
  }
}

async function runGroup(run: Run, { events, statements }: Group<LogEvent & { position?: number }>): Promise<void> {
  try {
    await runScript(
      run.target.client,
      statements.map((statement) => statement.sql),
    );
    run.statements += statements.length;
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    await run.target.client.query('ROLLBACK');
    const settings = await readLockSettings(run.target.client);
    const { message } = ddlFailure(error, statements, error.results.length, settings);
    const position = events[statements[error.results.length]?.source.event ?? 0]?.position;
    throw new OperatorError(position === undefined ? message : `Event ${position}: ${message}`, { cause: error });
  }
}

async function inTransaction({ target: { client } }: Run, work: () => Promise<void>): Promise<void> {
  await client.query('BEGIN');
  try {
    await work();
    await client.query('COMMIT');
  } catch (error) {
    if (client.getTransactionStatus() !== 'I') await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

const KIND = { [INDEX_PROJECTION]: 'after-commit' } as Record<string, string>;

/** Writes the rows and checkpoints, and removes the mark. From here on, the database is ready for the service. */
async function finish(run: Run, head: LogHead): Promise<void> {
  const { client, schema } = run.target;
  await inTransaction(run, async () => {
    await rebuildMetadata(client, run.state);
    await replaceChanges(client, await foldChangesOf(client, { after: 0, upTo: head.position }));
    await sendBatch(client, [
      ...PROJECTION_NAMES.map((name) => ({
        text: `INSERT INTO ${own.projections} (name, kind, position, hash) VALUES ($1, $2, $3, $4)
               ON CONFLICT (name) DO UPDATE
                  SET position = excluded.position, hash = excluded.hash, updated_at = now()`,
        values: [name, KIND[name] ?? 'transactional', head.position, head.position === 0 ? null : head.hash],
      })),
      { text: `SELECT pg_catalog.pg_notify($1, $2)`, values: [logChannel(schema), String(head.position)] },
    ]);
    await unmarkRestoring(client);
  });
}
