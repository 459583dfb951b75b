/** create-relation, update-relation, delete-relation. */
import { Draft } from '../draft.js';
import { dropRelation } from '../edits.js';
import { isObject } from '../json.js';
import type { Json, NewRelation, Relation } from '../model.js';
import { mergeRelation, readNewRelation } from '../normal-form/index.js';
import { type Problem, type Result, invalid, ok, refuse } from '../problem.js';
import { type State, getField, getRelation } from '../state.js';
import { type Operation, decideDraft } from './operation.js';
import { missingCollection, missingField, systemCollection } from './refusals.js';

export interface CreateRelation {
  relation: NewRelation;
}

export interface CreateRelationInput {
  body: unknown;
}

export const createRelation: Operation<'create-relation', CreateRelationInput, CreateRelation> = {
  name: 'create-relation',

  parse({ body }) {
    const relation = readNewRelation(body, [], { foreign: false, foreignKeyByDefault: true });
    return relation.ok ? ok({ relation: relation.value }) : relation;
  },

  *decide(state, { relation }) {
    const { many_collection: collection, many_field: field } = relation;
    const system = systemCollection(collection);
    if (system !== undefined) return refuse(system);
    if (getRelation(state, collection, field) !== undefined) {
      const message = `${JSON.stringify(field)} of ${JSON.stringify(collection)} has a relation already; update or delete that`;
      return refuse({ code: 'ALREADY_EXISTS', message, collection, field });
    }
    if (!state.collections.has(collection)) {
      return refuse(invalid(['many_collection'], `there is no collection ${JSON.stringify(collection)}`));
    }
    const draft = new Draft(state);
    draft.putRelation(relation);
    return yield* decideDraft(state, draft);
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
    if (!isObject(body)) return refuse(invalid([], 'the body is an object with the members to change'));
    const problems: Problem[] = [];
    const ends = { many_collection: collection, collection, many_field: field, field };
    for (const [member, now] of Object.entries(ends)) {
      if (body[member] === undefined || body[member] === now) continue;
      problems.push(
        invalid([member], `a relation keeps its many side, ${JSON.stringify(now)}; delete it and create another`),
      );
    }
    return problems.length > 0 ? refuse(...problems) : ok({ collection, field, body });
  },

  *decide(state, { collection, field, body }) {
    const existing = existingRelation(state, collection, field);
    if (!existing.ok) return existing;
    const merged = mergeRelation(existing.value, body, [], { foreign: false });
    if (!merged.ok) return merged;
    const draft = new Draft(state);
    draft.putRelation(merged.value);
    return yield* decideDraft(state, draft);
  },
};

export interface DeleteRelation {
  collection: string;
  field: string;
}

export const deleteRelation: Operation<'delete-relation', DeleteRelation, DeleteRelation> = {
  name: 'delete-relation',

  parse: (input) => ok(input),

  *decide(state, { collection, field }) {
    const existing = existingRelation(state, collection, field);
    if (!existing.ok) return existing;
    const draft = new Draft(state);
    dropRelation(draft, existing.value);
    return yield* decideDraft(state, draft);
  },
};

/** The relation of a many field, or why there is none. */
export function existingRelation(state: State, collection: string, field: string): Result<Relation> {
  const relation = getRelation(state, collection, field);
  if (relation !== undefined) return ok(relation);
  const system = systemCollection(collection);
  if (system !== undefined) return refuse(system);
  if (!state.collections.has(collection)) return refuse(missingCollection(collection));
  if (getField(state, collection, field) === undefined) return refuse(missingField(collection, field));
  const message = `${JSON.stringify(field)} of ${JSON.stringify(collection)} holds no relation; relations are named by their many side`;
  return refuse({ code: 'NOT_FOUND', message, collection, field });
}
