/* Compares the database after a change that will be rolled back with the log, and with the database before the change. */
import type pg from 'pg';
import { sendBatch } from '../../postgres/exchange.js';
import { areEquivalent } from '../../projector/verify/objects.js';
import { verify, type Difference } from '../../projector/verify/index.js';
import { type ChangedProperty, changedProperties, readUntouched } from '../../projector/verify/untouched.js';
import type { Point } from '../../reads/state-store.js';
import { changesObjects } from '../../schema/fold/event-schemas.js';
import { isConsequence } from '../../schema/model/events.js';
import { type State, getObject } from '../../schema/model/state.js';
import type { PipelineOptions, Proof } from '../types.js';
import type { Batch } from './commit.js';

/** Reads the database before the change. Returns the function that carries out the rest of a batch and compares. */
export async function startProof(
  client: pg.ClientBase,
  { location: { schema, schemas }, objects }: PipelineOptions,
  { state }: Point,
): Promise<(batch: Pick<Batch, 'done' | 'statements'>) => Promise<Proof>> {
  const compare = async (after: State): Promise<Difference[]> =>
    (await verify(client, after, schema, { objects })).differences;
  const known = new Set((await compare(state)).map((each) => JSON.stringify(each)));
  const before = await readUntouched(client, schemas);
  return async ({ done, statements }) => {
    await sendBatch(client, statements);
    const differences = await compare(done.state);
    return {
      differences: differences.filter((each) => !known.has(JSON.stringify(each))),
      properties: [
        ...(await rewrittenDefinitions(client, done)),
        ...(await changedProperties(before, await readUntouched(client, schemas))),
      ],
    };
  };
}

/** Returns the definitions that changed although the batch renames nothing, which would be a reason for PostgreSQL. */
async function rewrittenDefinitions(
  client: pg.ClientBase,
  { before, state, events }: Pick<Batch['done'], 'before' | 'state' | 'events'>,
): Promise<ChangedProperty[]> {
  if (events.some(({ type }) => type.endsWith('.renamed'))) return [];
  const changed: ChangedProperty[] = [];
  for (const { subject } of events.filter(changesObjects).filter(isConsequence)) {
    const [old, now] = [before, state].map((each) => getObject(each, subject)?.definition ?? '') as [string, string];
    if (await areEquivalent(client, old, now)) continue;
    changed.push({ object: `${subject.kind} ${subject.id}`, property: 'definition', before: old, after: now });
  }
  return changed;
}
