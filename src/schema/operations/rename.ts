/** rename-collection and rename-field: change a name and keep everything else, including rows. */
import { Draft } from '../transition/draft.js';
import type { SchemaEvent } from '../model/events.js';
import { parentOf, withPartitions } from '../model/order.js';
import { type CollectionNode, type State, type StoredLocation, isFolder, storedLocation } from '../model/state.js';
import { readTableLocation } from '../normal-form/collection.js';
import { checkName, toNfc } from '../normal-form/names.js';
import { isObject, jsonEqual } from '../../kernel/json.js';
import {
  type Path,
  type Problem,
  type Result,
  invalidProblem,
  ok,
  refuse,
  unknownMembers,
} from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import { NO_RENAMES, type Renames, isNone, withRenames } from '../transition/renames.js';
import { type Operation, decideDraft, missingCollection, missingField, systemCollection } from './operation.js';

export interface RenameCollection {
  collection: string;
  to: string;
  /** The new location of the table. Absent if the table stays in its schema. */
  location?: StoredLocation;
  /** Database functions whose body contains the old name. Absent if the functions were not read. */
  functions?: readonly { name: string; mentions: string }[];
}

export interface RenameCollectionInput {
  collection: string;
  body: unknown;
}

export const renameCollection: Operation<'rename-collection', RenameCollectionInput, RenameCollection> = {
  name: 'rename-collection',

  parse({ collection, body }) {
    const to = readTo(body, 'collection', ['to', 'schema']);
    if (!to.ok) return to;
    const location = readLocation(body, to.value);
    return location.ok ? ok({ collection, to: to.value, ...location.value }) : location;
  },

  decide(state, { collection, to, location }) {
    const node = state.collections.get(collection);
    if (node === undefined) return refuse(systemCollection(collection) ?? missingCollection(state, collection));
    if (location !== undefined && isFolder(node))
      return refuse(
        invalidProblem(['schema'], `collection ${JSON.stringify(collection)} is a folder and has no table`),
      );
    const renames = { ...NO_RENAMES, locations: locationsTo(to, location, node) };
    if (to === collection) return isNone(renames) ? ok([]) : decideRenames(state, renames);
    if (state.collections.has(to)) {
      const message = `collection ${JSON.stringify(to)} already exists`;
      return refuse({ code: 'ALREADY_EXISTS', message, path: 'to', collection });
    }
    return decideRenames(state, { ...renames, collections: new Map([[collection, to]]) });
  },
};

/** Returns the new location by the name of the collection. Empty if the table does not move. */
const locationsTo = (
  to: string,
  location: StoredLocation | undefined,
  { collection }: CollectionNode,
): Renames['locations'] =>
  new Map(location === undefined || jsonEqual(location, storedLocation(collection)) ? [] : [[to, location]]);

/** Reads the schema and the name of the table, by the rules for a new collection. */
function readLocation(body: unknown, to: string): Result<Pick<RenameCollection, 'location'>> {
  const schema = isObject(body) ? body['schema'] : undefined;
  if (schema === undefined) return ok({});
  const location = readTableLocation(schema, to, ['schema']);
  return location.ok ? ok({ location: location.value }) : location;
}

export interface RenameField extends RenameCollection {
  field: string;
}

export interface RenameFieldInput extends RenameCollectionInput {
  field: string;
}

export const renameField: Operation<'rename-field', RenameFieldInput, RenameField> = {
  name: 'rename-field',
  alters: ({ collection }) => [collection],

  parse({ collection, field, body }) {
    const to = readTo(body, 'field', ['to']);
    return to.ok ? ok({ collection, field, to: to.value }) : to;
  },

  decide(state, { collection, field, to }) {
    const node = state.collections.get(collection);
    if (node === undefined) return refuse(systemCollection(collection) ?? missingCollection(state, collection));
    if (!node.fields.has(field)) return refuse(missingField(state, collection, field));
    if (to === field) return ok([]);
    // The columns of partitions have the same names, so they are renamed as well.
    const tables = withPartitions(state, collection).filter((name) => state.collections.get(name)?.fields.has(field));
    const problems = [
      ...tables.flatMap((name) => takenProblems(state, name, to)),
      ...partitionProblems(state, node, { collection, field, to }),
    ];
    if (problems.length > 0) return refuse(...problems);
    const names = new Map([[field, to]]);
    return decideRenames(state, { ...NO_RENAMES, fields: new Map(tables.map((name) => [name, names])) });
  },
};

const TO: Path = ['to'];

function readTo(body: unknown, kind: 'collection' | 'field', members: readonly string[]): Result<string> {
  if (!isObject(body)) return refuse(invalidProblem([], 'the body must be an object with the new name: {"to": "…"}'));
  const problems = unknownMembers(body, new Set(members), []);
  const to = toNfc(body['to']);
  if (to === undefined) problems.push(invalidProblem(TO, 'to is required and must be the new name, as a string'));
  else problems.push(...checkName(kind, to, TO));
  return problems.length > 0 ? refuse(...problems) : ok(to as string);
}

function takenProblems({ collections }: State, collection: string, to: string): Problem[] {
  if (collections.get(collection)?.fields.has(to) !== true) return [];
  const message = `field ${JSON.stringify(to)} of collection ${JSON.stringify(collection)} already exists`;
  return [{ code: 'ALREADY_EXISTS', message, path: 'to', collection, field: to }];
}

function partitionProblems(state: State, { fields }: CollectionNode, { collection, field }: RenameField): Problem[] {
  const parent = parentOf(state, collection);
  if (parent === undefined || fields.get(field)?.schema === null) return [];
  const message = `a partition must have the columns of ${JSON.stringify(parent)}: rename the column there, which renames it here too`;
  return [{ code: 'IN_USE', message, collection, field }];
}

function* decideRenames(state: State, renames: Renames): Resumable<Result<SchemaEvent[]>> {
  const named = yield* withRenames(state, renames);
  const locations = { collection: placeOfTo, field: placeOfTo };
  return yield* decideDraft(state, new Draft(named.state, named.touched), {}, locations);
}

/** The location of all problems is the new name. */
const placeOfTo = () => ({ at: TO, stepsTo: () => [] });
