/** rename-collection and rename-field: change a name and keep everything else, including rows. */
import { Draft } from '../transition/draft.js';
import type { SchemaEvent } from '../model/events.js';
import { parentOf, withPartitions } from '../model/order.js';
import type { CollectionNode, State } from '../model/state.js';
import { checkName, toNfc } from '../normal-form/names.js';
import { isObject } from '../../kernel/json.js';
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
import { NO_RENAMES, type Renames, withRenames } from '../transition/renames.js';
import { type Operation, decideDraft, missingCollection, missingField, systemCollection } from './operation.js';

export interface RenameCollection {
  collection: string;
  to: string;
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
    const to = readTo(body, 'collection');
    return to.ok ? ok({ collection, to: to.value }) : to;
  },

  decide(state, { collection, to }) {
    if (!state.collections.has(collection)) {
      return refuse(systemCollection(collection) ?? missingCollection(state, collection));
    }
    if (to === collection) return ok([]);
    if (state.collections.has(to)) {
      const message = `collection ${JSON.stringify(to)} already exists`;
      return refuse({ code: 'ALREADY_EXISTS', message, path: 'to', collection });
    }
    return decideRenames(state, { ...NO_RENAMES, collections: new Map([[collection, to]]) });
  },
};

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
    const to = readTo(body, 'field');
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

function readTo(body: unknown, kind: 'collection' | 'field'): Result<string> {
  if (!isObject(body)) return refuse(invalidProblem([], 'the body must be an object with the new name: {"to": "…"}'));
  const problems = unknownMembers(body, new Set(['to']), []);
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
