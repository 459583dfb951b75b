/* Compares the database after a change that will be rolled back with the log, and with the database before the change. */
import type pg from 'pg';
import { runYielding } from '../../kernel/event-loop.js';
import { jsonEqual } from '../../kernel/json.js';
import { OperatorError, type Problem } from '../../kernel/problem.js';
import { objectsOwnerOf } from '../../postgres/client.js';
import { ExchangeError, isConnectionLoss, sqlState, unavailableProblem } from '../../postgres/errors.js';
import { runScript, sendBatch } from '../../postgres/exchange.js';
import type { Logger } from '../../postgres/logger.js';
import { withScratchDatabase } from '../../postgres/open-database.js';
import { planBatch } from '../../projector/ddl/plan.js';
import { metadataStatements, objectStatements } from '../../projector/metadata/rows.js';
import { ddlFailure } from '../../projector/refusals/ddl-failure.js';
import { adaptToEmptyTables, openTarget, replayState } from '../../projector/replay.js';
import { areEquivalent } from '../../projector/verify/objects.js';
import { verify, type Difference } from '../../projector/verify/index.js';
import {
  type ChangedProperty,
  OWNER,
  type StoredDefinition,
  findChangedDefinitions,
  findChangedProperties,
  readProperties,
  readStoredDefinitions,
} from '../../projector/verify/properties.js';
import { changesObjects, collectionsChanged } from '../../schema/fold/event-schemas.js';
import { formerNames } from '../../schema/fold/former-names.js';
import { type LogEvent, isConsequence } from '../../schema/model/events.js';
import { KINDS, OBJECT_KINDS, type ObjectKind, type ObjectName, objectKey } from '../../schema/model/objects.js';
import type { Definition, SchemaObject } from '../../schema/model/object-document.js';
import { objectsInOrder } from '../../schema/model/order.js';
import { findFormerObjects, renamedObject } from '../../schema/transition/objects.js';
import { privilegeLines } from '../../schema/model/privileges.js';
import { type State, getObject } from '../../schema/model/state.js';
import type { PipelineOptions, Plan, Proof, Refusal } from '../types.js';
import type { Batch } from './commit.js';
import { readObjectFacts, withRewrittenObjects } from './rewritten-objects.js';

type ProvedBatch = Pick<Batch['done'], 'before' | 'state' | 'events'>;

/** A batch before its execution. */
type ProvedPlan = Pick<Batch['done'], 'before' | 'state'> & Pick<Plan, 'events'>;

/** Reads the database before the change. Returns the function that carries out the rest of a batch and compares. */
export async function startProof(
  client: pg.ClientBase,
  { location: { schema, schemas }, objects }: Pick<PipelineOptions, 'location' | 'objects'>,
  { before: state, state: after, events }: ProvedPlan,
): Promise<(batch: { done: ProvedBatch } & Pick<Batch, 'statements'>) => Promise<Proof>> {
  const compare = async (expected: State): Promise<Difference[]> =>
    (await verify(client, expected, schema, { objects })).differences;
  const known = await compare(state);
  const isRenaming = events.some(({ type }) => type.endsWith('.renamed'));
  // PostgreSQL rewrites privileges and options of renamed columns, and the log follows it. Only properties show a loss.
  const managed = isRenaming ? findRedefined(state, after) : [state, after].flatMap(objectsInOrder);
  const idsOf = (wanted: ObjectKind): string[] => [
    ...new Set(managed.flatMap(({ kind, id }) => (kind === wanted && objects === true ? [id] : []))),
  ];
  const [privileges, tableOptions] = [idsOf('privileges'), idsOf('table_options')];
  const read = () => readProperties(client, { schema, schemas, privileges, tableOptions });
  const before = await read();
  const readDefinitions = async () =>
    objects === true ? readStoredDefinitions(client, { schema, schemas }) : new Map();
  const definitions = await readDefinitions();
  const roles = await readRoles(client);
  return async ({ done, statements }) => {
    await sendBatch(client, statements);
    const differences = await compare(done.state);
    return {
      differences: withoutKnown(known, differences, done),
      properties: [
        ...(isRenaming
          ? findAlteredDefinitions(definitions, await readDefinitions(), done)
          : await findRewrittenDefinitions(client, done)),
        ...(await findChangedProperties(before, await read())).filter((each) => !isHandedOver(each, roles)),
      ],
    };
  };
}

type Roles = Pick<ChangedProperty, 'before' | 'after'>;

/** Returns the role of the connection and the role of OBJECTS_OWNER as PostgreSQL prints them. */
async function readRoles(client: pg.ClientBase): Promise<Roles> {
  const owner = objectsOwnerOf(client);
  const { rows } = await client.query<Roles>(
    'SELECT pg_catalog.quote_ident(current_user::text) AS before, pg_catalog.quote_ident($1::text) AS after',
    [owner ?? null],
  );
  return rows[0] ?? { before: null, after: null };
}

/** True if a change gave an object of the service to the role of OBJECTS_OWNER, as every change does that creates it again. */
const isHandedOver = ({ property, before, after }: ChangedProperty, roles: Roles): boolean =>
  property === OWNER && before === roles.before && after === roles.after;

/** Returns the objects of both states that the plan itself creates, deletes or gives a different definition. */
function findRedefined(before: State, after: State): SchemaObject[] {
  const former = findFormerObjects(before, after);
  const kept = new Set(former.values());
  return [
    ...objectsInOrder(before).filter((object) => !kept.has(objectKey(object))),
    ...objectsInOrder(after).flatMap((object): SchemaObject[] => {
      const old = before.objects.get(former.get(objectKey(object)) ?? '')?.object;
      if (old === undefined) return [object];
      return jsonEqual(renamedObject(old, object.id).definition, object.definition) ? [] : [old, object];
    }),
  ];
}

/**
 * Returns the differences that did not exist before the batch. After a rename, known differences have other names, also
 * in their values, so only their members are compared.
 */
function withoutKnown(
  known: readonly Difference[],
  differences: readonly Difference[],
  { before, state, events }: ProvedBatch,
): Difference[] {
  if (!events.some(({ type }) => type.endsWith('.renamed'))) {
    const texts = new Set(known.map((each) => JSON.stringify(each)));
    return differences.filter((each) => !texts.has(JSON.stringify(each)));
  }
  const names = formerNames();
  for (const event of events) names.add(event);
  const objects = findFormerObjects(before, state);
  const keyOf = ({ where, member, collection, field, object }: Difference, isAfter: boolean): string => {
    const key = object && objectKey(object as ObjectName);
    const formerKey = isAfter && key !== undefined ? (objects.get(key) ?? key) : key;
    const table = isAfter ? names.collection(collection) : collection;
    const column = isAfter && field !== undefined ? names.field(collection, field) : field;
    return JSON.stringify([where, member, formerKey ?? [table, column]]);
  };
  const keys = new Set(known.map((each) => keyOf(each, false)));
  return differences.filter((each) => !keys.has(keyOf(each, true)));
}

/** Returns the definitions that a batch with renames changed beyond the renames, without an event. */
function findAlteredDefinitions(
  before: ReadonlyMap<string, StoredDefinition>,
  after: ReadonlyMap<string, StoredDefinition>,
  { state, events }: ProvedBatch,
): ChangedProperty[] {
  const redefined = new Set(
    events
      .filter(changesObjects)
      .filter((event) => event.type !== 'object.renamed' && !isConsequence(event))
      .map(({ subject: { kind, id } }) => `${KINDS[kind].catalog} ${id}`),
  );
  return findChangedDefinitions(before, after).flatMap(([old, now]): ChangedProperty[] => {
    if ([old, now].some(({ catalog, id }) => redefined.has(`${catalog} ${id}`))) return [];
    const kinds = OBJECT_KINDS.filter((kind) => KINDS[kind].catalog === now.catalog);
    const kind = kinds.find((each) => state.objects.has(objectKey({ kind: each, id: now.id }))) ?? kinds[0];
    const object = `${kind === undefined ? now.catalog : KINDS[kind].label} ${now.id}`;
    return [{ object, property: 'definition', before: old.printed, after: now.printed }];
  });
}

/** Returns the definitions that changed although the batch renames nothing, the only reason for which PostgreSQL rewrites definitions. */
async function findRewrittenDefinitions(
  client: pg.ClientBase,
  { before, state, events }: ProvedBatch,
): Promise<ChangedProperty[]> {
  const changed: ChangedProperty[] = [];
  for (const { subject } of events.filter(changesObjects).filter(isConsequence)) {
    const [old, now] = [getObject(before, subject)?.definition ?? '', getObject(state, subject)?.definition ?? ''];
    if (await areEquivalent(client, old, now)) continue;
    const object = `${KINDS[subject.kind].label} ${subject.id}`;
    changed.push({ object, property: 'definition', before: textOf(old), after: textOf(now) });
  }
  return changed;
}

const textOf = (definition: Definition): string =>
  typeof definition === 'string' ? definition : privilegeLines(definition);

/*
 * Proves a change in a scratch database on the server of PROVE_DATABASE_URL. The scratch database gets the tables and
 * objects of the state, and neither rows nor events, which contain personal data.
 */

interface ProveOptions extends Pick<PipelineOptions, 'pool' | 'location' | 'objects' | 'logger' | 'statementTimeout'> {
  /** The value of PROVE_DATABASE_URL. */
  url: string;
}

const onScratchServer = <T>(
  { pool, url }: Pick<ProveOptions, 'pool' | 'url'>,
  work: (connectionString: string) => Promise<T>,
): Promise<T> => withScratchDatabase({ server: url, setting: 'PROVE_DATABASE_URL', original: pool }, work);

/** Returns the plan with the outcome of its execution in a scratch database. */
export async function proveInScratchDatabase<C>(options: ProveOptions, plan: Plan<C>): Promise<Plan<C> | Refusal> {
  try {
    return await onScratchServer(options, (connectionString) => executeAndCompare(options, connectionString, plan));
  } catch (error) {
    const reason = describeFailure(error);
    if (reason === undefined) throw error;
    options.logger.error('a proof in a scratch database failed', { error: String((error as Error).cause ?? error) });
    return {
      kind: 'refused',
      problems: [unavailableProblem(`The change cannot be proved. ${reason} Nothing was changed.`)],
    };
  }
}

/** Returns undefined for an error that is a defect of this program. */
function describeFailure(error: unknown): string | undefined {
  if (error instanceof OperatorError) return error.message;
  const state = sqlState(error);
  if (state === undefined && !isConnectionLoss(error)) return undefined;
  return `The server of PROVE_DATABASE_URL failed (${state ?? 'the connection was lost'}).`;
}

/** Creates a scratch database and drops it. Returns the reason why that failed, or null. */
export const findScratchFault = (options: Pick<ProveOptions, 'pool' | 'url'>): Promise<string | null> =>
  onScratchServer(options, () => Promise.resolve(null)).catch((error: unknown) => {
    const reason = describeFailure(error);
    if (reason === undefined) throw error;
    return reason;
  });

/** Drops the scratch databases of killed processes, and warns if the server cannot be used. Never rejects. */
export const checkScratchServer = ({
  logger,
  ...server
}: Pick<ProveOptions, 'pool' | 'url' | 'logger'>): Promise<void> =>
  findScratchFault(server)
    .catch((error: unknown) => (error as Error).message)
    .then((reason) => {
      if (reason !== null) logger.warn('no change can be proved', { reason });
    });

async function executeAndCompare<C>(
  { location, objects, logger, statementTimeout }: ProveOptions,
  connectionString: string,
  plan: Plan<C>,
): Promise<Plan<C>> {
  const { schema, schemas } = location;
  const options = { connectionString, schema, schemas, serviceSchema: 'dps_prove', logger: withoutNews(logger) };
  const target = await openTarget(options);
  const { client } = target;
  try {
    await client.query("SELECT pg_catalog.set_config('statement_timeout', $1, false)", [String(statementTimeout)]);
    await replayState(target, plan.before).catch((cause: unknown) => {
      if (!(cause instanceof OperatorError)) throw cause;
      const { message } = cause;
      throw new OperatorError(`The server of PROVE_DATABASE_URL cannot create the current schema: ${message}`, {
        cause,
      });
    });
    await client.query('BEGIN');
    return await executeInTransaction(client, { location, objects: objects === true }, plan);
  } finally {
    await target.close();
  }
}

async function executeInTransaction<C>(
  client: pg.PoolClient,
  { location, objects }: { location: PipelineOptions['location']; objects: boolean },
  plan: Plan<C>,
): Promise<Plan<C>> {
  const { before } = plan;
  const { schema } = location;
  const events = plan.events.map(withoutRows);
  const facts = await readObjectFacts(client, { state: before, events, schema });
  const planned = await runYielding(planBatch(before, events, schema, { facts, objects }));
  const prove = await startProof(client, { location, objects }, { before, state: planned.after, events });
  const [problem = null] = planned.problems;
  const refusal = problem ?? (await execute(client, planned.statements));
  if (refusal !== null) return { ...plan, accepted: false, refusal };
  const rewritten =
    facts === undefined
      ? { events, after: planned.after }
      : await withRewrittenObjects(client, { before, after: planned.after, events, facts, schema });
  const { after, reprinted } = rewritten;
  const statements = [
    ...metadataStatements(before, after, collectionsChanged(rewritten.events)),
    ...objectStatements(before, after, schema, reprinted),
  ];
  const done = { before, state: after, events: rewritten.events as ProvedBatch['events'] };
  return { ...plan, accepted: true, events: rewritten.events, after, proof: await prove({ done, statements }) };
}

/** The log of the service does not mention the migrations of scratch databases. */
const withoutNews = (logger: Logger): Logger => ({
  debug: () => undefined,
  info: () => undefined,
  warn: (message, fields) => logger.warn(message, fields),
  error: (message, fields) => logger.error(message, fields),
});

/** Returns the first error of PostgreSQL, or null. */
async function execute(client: pg.ClientBase, statements: Plan['statements']): Promise<Problem | null> {
  try {
    await runScript(
      client,
      statements.map((statement) => statement.sql),
    );
    return null;
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return ddlFailure(error, statements, error.results.length);
  }
}

/** The scratch database has no rows and no trash. */
function withoutRows(event: LogEvent): LogEvent {
  const adapted = adaptToEmptyTables(event);
  const { restored } = adapted.data as { restored?: object };
  if (restored === undefined) return adapted;
  return { ...adapted, data: { ...adapted.data, restored: { ...restored, empty: true } } } as LogEvent;
}
