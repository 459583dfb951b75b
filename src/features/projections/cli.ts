import type { Document } from '../../log/document-lines.js';
import { gatherDocuments, readDocuments } from '../../log/documents.js';
import { type EventRecord, readRecordPages } from '../../log/read.js';
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';
import { documentsOf } from '../../schema/change-requests/model.js';
import { OperatorError, ProblemError } from '../../kernel/problem.js';
import { PROJECTION_NAMES, type ProjectionName, checkReplay } from '../../projector/replay.js';
import { type RebuildResult, isProjectionName } from './index.js';
import { type ExitCode, type Invocation, UsageError, isSet, text } from '../../cli/command.js';
import { countDifferences, describeDifference } from '../../doctor/differences.js';
import { json, createProgress } from '../../cli/output.js';
import { withServerAt } from '../../cli/connections/database.js';
import { type ProjectionTools, withProjections, replayInto, showReplay } from '../../cli/connections/projections.js';

/**
 * Returns 1 if differences remain.
 * @throws UsageError for an unknown projection
 */
export async function rebuild(invocation: Invocation): Promise<ExitCode> {
  const [name = ''] = invocation.positionals;
  if (!isProjectionName(name)) throw new UsageError(`The projection must be one of ${PROJECTION_NAMES.join(', ')}.`);
  const into = text(invocation.values, 'into');
  if (into === undefined) return withProjections(invocation, (tools) => rebuildHere(invocation, tools, name));
  if (name !== 'tables') throw new UsageError('--into can only be used with "tables".');
  return withProjections(invocation, (tools) =>
    withServerAt(invocation, into, (connectionString) => rebuildInto(invocation, tools, connectionString)),
  );
}

async function rebuildHere(
  { values, terminal }: Invocation,
  tools: ProjectionTools,
  name: ProjectionName,
): Promise<ExitCode> {
  if (name !== 'metadata') await tools.load();
  const progress = createProgress(terminal, `rebuilding ${name}`);
  const rebuilt = await tools.projections.rebuild(name, progress.at).catch(explain);
  progress.end();
  terminal.print(isSet(values, 'json') ? json(rebuilt) : describeRebuilt(rebuilt));
  return rebuilt.differences?.length ? 1 : 0;
}

function explain(error: unknown): never {
  if (!(error instanceof ProblemError)) throw error;
  const next = error.problem.details?.['next'];
  throw new OperatorError(typeof next === 'string' ? `${error.message}\nNext: ${next}` : error.message, {
    cause: error,
  });
}

/** Returns one summary line, then the completed work, then the rest with reasons, and then the differences. */
export function describeRebuilt({
  name,
  position,
  made = [],
  left = [],
  differences = [],
  ...rest
}: RebuildResult): string {
  const { milliseconds, locked_milliseconds: locked, ...counts } = rest;
  const facts = Object.entries(counts).map(([key, value]) => `, ${value} ${key.replaceAll('_', ' ')}`);
  if (locked !== undefined) facts.push(`, locked for ${locked} ms`);
  if (milliseconds !== undefined) facts.push(`, ${milliseconds} ms in total`);
  return [
    `${name}: at position ${position}${facts.join('')}.`,
    ...made.map((statement) => `  done: ${statement}`),
    ...left.map(({ statement, reason }) => `  skipped: ${statement} (${reason})`),
    ...(differences.length === 0 ? [] : [`${countDifferences(differences)}:`, ...differences.map(describeDifference)]),
  ].join('\n');
}

async function rebuildInto(
  invocation: Invocation,
  { pool, projections }: ProjectionTools,
  into: string,
): Promise<ExitCode> {
  const { head } = await projections.list();
  const { schema, schemas, serviceSchema, objectsOwner } = invocation.config();
  await checkReplay({ pages: readUnerased(pool, head), tables: 'every-event', schema, schemas });
  const progress = createProgress(invocation.terminal, 'replaying');
  const documents = gatherDocuments();
  const replayed = await replayInto({
    connectionString: into,
    schema,
    schemas,
    serviceSchema,
    objectsOwner,
    pages: withDocuments(pool, readUnerased(pool, head), documents.add),
    documents: documents.take,
    tables: 'every-event',
    onReplayed: (position) => progress.at(position, head),
  });
  progress.end();
  return showReplay(invocation, replayed);
}

/**
 * Removes personal data that was erased while the log was read. Events that were read before an erasure still contain
 * the data, and the event about the erasure is after the head.
 * @throws OperatorError after the last page
 */
async function* readUnerased(pool: Queryable, head: number): AsyncGenerator<EventRecord[], void, undefined> {
  yield* readRecordPages(pool, { after: 0, upTo: head });
  const { rowCount } = await pool.query(
    `SELECT FROM ${own.events} WHERE position > $1 AND type = 'log.erased' LIMIT 1`,
    [head],
  );
  if (rowCount !== 0)
    throw new OperatorError(
      'Personal data was erased while the log was copied. Drop the target database, which may contain it, and repeat the command.',
    );
}

/** Maximum number of events whose documents are in memory. A document may have several megabytes. */
const AT_ONCE = 50;

/** Splits pages into parts, and yields each part after reading its documents. Missing documents are skipped. */
async function* withDocuments(
  pool: Queryable,
  pages: AsyncIterable<EventRecord[]>,
  onDocument: (document: Document) => void,
): AsyncGenerator<EventRecord[], void, undefined> {
  for await (const page of pages)
    for (let at = 0; at < page.length; at += AT_ONCE) {
      const piece = page.slice(at, at + AT_ONCE);
      for (const document of (await readDocuments(pool, piece.flatMap(documentsOf))).values()) onDocument(document);
      yield piece;
    }
}
