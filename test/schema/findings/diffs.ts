/** Changes as diffs: a snapshot is edited and compared with its schema. */
import { planBatch } from '../../../src/projector/ddl/plan.js';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { compareSnapshot } from '../../../src/schema/compare/compare-snapshot.js';
import type { Finding } from '../../../src/schema/findings/model.js';
import { type DatabaseFacts, findingsOf } from '../../../src/schema/findings/planned-batch.js';
import type { NamesBefore } from '../../../src/schema/fold/former-names.js';
import type { Policy } from '../../../src/schema/policy.js';
import { type State, initialState } from '../../../src/schema/model/state.js';
import { snapshotOf } from '../../../src/schema/snapshot/snapshot.js';
import { transition } from '../../../src/schema/transition/transition.js';
import type { LogEvent, SchemaEvent } from '../../../src/schema/model/events.js';

type Loose = Record<string, unknown>;

export interface Edited {
  collections: (Loose & { collection: string })[];
  fields: (Loose & { collection: string; field: string; schema: Loose | null })[];
  relations: Loose[];
}

export interface DiffOptions {
  known?: DatabaseFacts;
  /** With `concurrentIndexCreation`. */
  concurrently?: true;
  online?: true;
  policy?: Policy;
  judgedNames?: NamesBefore;
  /** Locations that are reported separately. */
  apart?: readonly string[];
}

const RELEASE = '0.1.0';

/** The events of an edited snapshot. */
export function eventsOfEdit(before: State, change: (snapshot: Edited) => void): SchemaEvent[] {
  const snapshot = structuredClone(runToEnd(snapshotOf(before, RELEASE))) as unknown as Edited;
  change(snapshot);
  const compared = runToEnd(compareSnapshot(before, snapshot, { force: false, mode: 'mirror', release: RELEASE }));
  if (!compared.ok) throw new Error(JSON.stringify(compared.problems));
  const { desired } = compared.value;
  return runToEnd(transition(before, desired.state, desired.touched));
}

/** The state after an edited snapshot, and the findings. */
export function edit(
  before: State,
  change: (snapshot: Edited) => void,
  options: DiffOptions = {},
): { after: State; findings: Finding[] } {
  const decided = eventsOfEdit(before, change);
  const events: LogEvent[] = options.concurrently ? decided.map(concurrently) : decided;
  const { statements, after } = runToEnd(planBatch(before, events, 'public'));
  const { policy, judgedNames, apart = [] } = options;
  const judging = {
    online: options.online === true,
    apart: new Set(apart),
    ...(policy && { policy }),
    ...(judgedNames && { judgedNames }),
  };
  const plan = { before, after, events, statements, ...judging };
  return { after, findings: runToEnd(findingsOf(plan, options.known)) };
}

const concurrently = (event: LogEvent): LogEvent =>
  event.type === 'field.created' || event.type === 'field.updated'
    ? ({ ...event, data: { ...event.data, concurrent_indexes: true } } as LogEvent)
    : event;

export const column = (
  collection: string,
  field: string,
  type: string,
  schema: Loose = {},
): Edited['fields'][number] => ({
  collection,
  field,
  type,
  meta: { interface: 'input' },
  schema,
});

export const table = (collection: string, extras?: object): Edited['collections'][number] => ({
  collection,
  schema: extras === undefined ? {} : { extras },
});

export const key = (collection: string, type = 'bigInteger', more: Loose = {}): Edited['fields'][number] =>
  column(collection, 'id', type, { is_primary_key: true, has_auto_increment: true, is_nullable: false, ...more });

/** Articles and their authors in an existing database. */
export const LIBRARY: State = edit(initialState(), ({ collections, fields }) => {
  collections.push(table('articles'), table('authors'));
  fields.push(key('articles'), key('authors'));
  fields.push(
    column('articles', 'title', 'string', { max_length: 100 }),
    column('articles', 'slug', 'string', { is_indexed: true }),
    column('articles', 'views', 'integer', { is_nullable: false, default_value: 0 }),
    column('articles', 'author', 'bigInteger'),
    column('articles', 'sent', 'timestamp', {}),
  );
}).after;

export const fieldIn = ({ fields }: Edited, name: string): Edited['fields'][number] & { schema: Loose } => {
  const document = fields.find(({ collection, field }) => collection === 'articles' && field === name);
  if (document?.schema == null) throw new Error(`no field ${name}`);
  return document as Edited['fields'][number] & { schema: Loose };
};
