/** create-relation, update-relation, delete-relation. */
import { Draft } from '../transition/draft.js';
import { changeRelation, dropRelation } from '../transition/cascade.js';
import { isObject, type Json } from '../../kernel/json.js';
import type { NewRelation, Relation } from '../model/model.js';
import { mergeRelation, readNewRelation } from '../normal-form/index.js';
import { type Locations, locate } from '../../kernel/locate.js';
import {
  relationLocations,
  type Operation,
  decideDraft,
  missingCollection,
  missingField,
  systemCollection,
} from './operation.js';
import { type Problem, type Result, problemAbout, invalidProblem, ok, refuse } from '../../kernel/problem.js';
import { type State, getField, getRelation } from '../model/state.js';
import { collectionName } from '../model/system-collections.js';

export interface CreateRelation {
  relation: NewRelation;
  /** The submitted document in either form, from which problems get their locations. */
  body: { [member: string]: Json };
}

export interface CreateRelationInput {
  body: unknown;
}

export const createRelation: Operation<'create-relation', CreateRelationInput, CreateRelation> = {
  name: 'create-relation',

  parse({ body }) {
    if (!isObject(body)) return refuse(invalidProblem([], 'a relation must be a JSON object'));
    const relation = readNewRelation(body, [], { imported: false, foreignKeyByDefault: true });
    if (!relation.ok) return relation;
    const empty = emptyChoice(relation.value, placesOf(relation.value, body));
    return empty === undefined ? ok({ relation: relation.value, body }) : refuse(empty);
  },

  decide(state, { relation: read, body }) {
    const relation = { ...read, one_collection: collectionName(read.one_collection, has(state)) };
    const locations = placesOf(relation, body);
    const { many_collection: collection, many_field: field } = relation;
    const system = systemCollection(collection);
    if (system !== undefined) return refuse(system);
    if (getRelation(state, collection, field) !== undefined) {
      const message = `${JSON.stringify(field)} of ${JSON.stringify(collection)} already has a relation; update or delete it`;
      return refuse({ code: 'ALREADY_EXISTS', message, collection, field });
    }
    if (!state.collections.has(collection)) {
      const subject = { kind: 'relation', collection, field, member: ['many_collection'] } as const;
      return refuse(
        locate(problemAbout(subject, `collection ${JSON.stringify(collection)} does not exist`), locations),
      );
    }
    const draft = new Draft(state);
    draft.putRelation(relation);
    return decideDraft(state, draft, {}, locations);
  },
};

export interface UpdateRelation {
  collection: string;
  field: string;
  body: { [member: string]: Json };
}

export interface UpdateRelationInput {
  collection: string;
  field: string;
  body: unknown;
}

export const updateRelation: Operation<'update-relation', UpdateRelationInput, UpdateRelation> = {
  name: 'update-relation',

  parse({ collection, field, body }) {
    if (!isObject(body)) return refuse(invalidProblem([], 'the body must be an object with the members to change'));
    const problems: Problem[] = [];
    const ends = { many_collection: collection, collection, many_field: field, field };
    for (const [member, now] of Object.entries(ends)) {
      if (body[member] === undefined || body[member] === now) continue;
      problems.push(
        invalidProblem(
          [member],
          `the many side of a relation cannot change. It is ${JSON.stringify(now)}; delete the relation and create another`,
        ),
      );
    }
    return problems.length > 0 ? refuse(...problems) : ok({ collection, field, body });
  },

  decide(state, { collection, field, body }) {
    const existing = existingRelation(state, collection, field);
    if (!existing.ok) return existing;
    const merged = mergeRelation(existing.value, withCollectionNames(body, has(state)), [], { imported: false });
    if (!merged.ok) return merged;
    const locations = placesOf(existing.value, body);
    const empty = merged.value === existing.value ? undefined : emptyChoice(merged.value, locations);
    if (empty !== undefined) return refuse(empty);
    const draft = new Draft(state);
    changeRelation(draft, existing.value, merged.value);
    return decideDraft(state, draft, {}, locations);
  },
};

type Body = UpdateRelation['body'];

const has =
  (state: State) =>
  (collection: string): boolean =>
    state.collections.has(collection);

/** Translates the names of referenced collections to those of this service. */
function withCollectionNames(body: Body, exists: (collection: string) => boolean): Body {
  const own = (part: Body, ...members: string[]): Body =>
    Object.fromEntries(
      Object.entries(part).map(([member, value]) => [
        member,
        members.includes(member) ? collectionName(value, exists) : value,
      ]),
    );
  const inner = (part: 'meta' | 'schema', member: string): Body =>
    isObject(body[part]) ? { [part]: own(body[part], member) } : {};
  return {
    ...own(body, 'one_collection', 'related_collection'),
    ...inner('meta', 'one_collection'),
    ...inner('schema', 'foreign_key_table'),
  };
}

const placesOf = ({ many_collection, many_field }: NewRelation, body: unknown): Locations =>
  relationLocations(many_collection, many_field, body);

/** Reports a relation without targets. Deleting collections may leave one, but a request cannot create one. */
function emptyChoice(relation: NewRelation, locations: Locations): Problem | undefined {
  const { many_collection: collection, many_field: field, one_allowed_collections: allowed } = relation;
  if (allowed?.length !== 0) return undefined;
  const subject = { kind: 'relation', collection, field, member: ['one_allowed_collections'] } as const;
  return locate(problemAbout(subject, 'one_allowed_collections must name at least one collection'), locations);
}

export interface DeleteRelation {
  collection: string;
  field: string;
}

export const deleteRelation: Operation<'delete-relation', DeleteRelation, DeleteRelation> = {
  name: 'delete-relation',

  parse: (input) => ok(input),

  decide(state, { collection, field }) {
    const existing = existingRelation(state, collection, field);
    if (!existing.ok) return existing;
    const draft = new Draft(state);
    dropRelation(draft, existing.value);
    return decideDraft(state, draft);
  },
};

/** Returns the relation of a many field, or the reason why there is none. */
export function existingRelation(state: State, collection: string, field: string): Result<Relation> {
  const relation = getRelation(state, collection, field);
  if (relation !== undefined) return ok(relation);
  const system = systemCollection(collection);
  if (system !== undefined) return refuse(system);
  if (!state.collections.has(collection)) return refuse(missingCollection(state, collection));
  if (getField(state, collection, field) === undefined) return refuse(missingField(state, collection, field));
  const message = `${JSON.stringify(field)} of ${JSON.stringify(collection)} has no relation. A relation is identified by its many side`;
  return refuse({ code: 'NOT_FOUND', message, collection, field });
}
