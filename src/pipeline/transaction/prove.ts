/* Compares the database after a change that will be rolled back with the log, and with the database before the change. */
import type pg from 'pg';
import { objectsOwnerOf } from '../../postgres/client.js';
import { sendBatch } from '../../postgres/exchange.js';
import { areEquivalent } from '../../projector/verify/objects.js';
import { verify, type Difference } from '../../projector/verify/index.js';
import {
  type ChangedProperty,
  OWNER,
  findChangedProperties,
  readProperties,
} from '../../projector/verify/properties.js';
import { changesObjects } from '../../schema/fold/event-schemas.js';
import { isConsequence } from '../../schema/model/events.js';
import { type Definition, KINDS, type ObjectKind } from '../../schema/model/objects.js';
import { objectsInOrder } from '../../schema/model/order.js';
import { privilegeLines } from '../../schema/model/privileges.js';
import { type State, getObject } from '../../schema/model/state.js';
import type { PipelineOptions, Proof } from '../types.js';
import type { Batch } from './commit.js';

/** Reads the database before the change. Returns the function that carries out the rest of a batch and compares. */
export async function startProof(
  client: pg.ClientBase,
  { location: { schema, schemas }, objects }: PipelineOptions,
  { state, after }: { state: State; after: State },
): Promise<(batch: Pick<Batch, 'done' | 'statements'>) => Promise<Proof>> {
  const compare = async (expected: State): Promise<Difference[]> =>
    (await verify(client, expected, schema, { objects })).differences;
  const known = new Set((await compare(state)).map((each) => JSON.stringify(each)));
  const managed = objects === true ? [state, after].flatMap(objectsInOrder) : [];
  const idsOf = (wanted: ObjectKind): string[] => [
    ...new Set(managed.flatMap(({ kind, id }) => (kind === wanted ? [id] : []))),
  ];
  const [privileges, tableOptions] = [idsOf('privileges'), idsOf('table_options')];
  const read = () => readProperties(client, { schema, schemas, privileges, tableOptions });
  const before = await read();
  const roles = await readRoles(client);
  return async ({ done, statements }) => {
    await sendBatch(client, statements);
    const differences = await compare(done.state);
    return {
      differences: differences.filter((each) => !known.has(JSON.stringify(each))),
      properties: [
        ...(await findRewrittenDefinitions(client, done)),
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

/** Returns the definitions that changed although the batch renames nothing, the only reason for which PostgreSQL rewrites definitions. */
async function findRewrittenDefinitions(
  client: pg.ClientBase,
  { before, state, events }: Pick<Batch['done'], 'before' | 'state' | 'events'>,
): Promise<ChangedProperty[]> {
  if (events.some(({ type }) => type.endsWith('.renamed'))) return [];
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
