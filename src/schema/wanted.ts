/** A submitted snapshot → the state it asks for. What it leaves out says nothing. */
import { Draft } from './draft.js';
import { dropCollection, dropRelation } from './edits.js';
import { invariantProblems } from './invariants/index.js';
import { isObject, jsonEqual } from './json.js';
import {
  mergeCollection,
  mergeField,
  mergeRelation,
  readNewCollection,
  readNewField,
  readNewRelation,
} from './normal-form/index.js';
import { relationBody } from './change.js';
import { type Path, type Problem, type Result, invalid, ok, refuse } from './problem.js';
import { shownCollection, shownFields } from './snapshot.js';
import type { State } from './state.js';
import { isSystemCollection } from './system-collections.js';

export interface WantedOptions {
  /** mirror: what the snapshot lacks is removed. merge: nothing is removed. */
  mode: 'mirror' | 'merge';
  /** The snapshot comes from elsewhere and was accepted with `force`. */
  foreign: boolean;
}

/** The parts of a snapshot; an absent part says nothing. */
export interface SnapshotParts {
  collections?: unknown[] | undefined;
  fields?: unknown[] | undefined;
  relations?: unknown[] | undefined;
}

export interface Wanted {
  state: State;
  touched: ReadonlySet<string>;
}

interface Reading {
  state: State;
  draft: Draft;
  parts: SnapshotParts;
  options: WantedOptions;
  problems: Problem[];
  /** Where each document stands in the snapshot, for problems of the result. */
  places: Map<string, Path>;
}

const key = (...names: string[]): string => names.join('\0');

/** The state that results when `state` becomes what the snapshot says. Problems carry the path in the snapshot. */
export function wantedState(state: State, parts: SnapshotParts, options: WantedOptions): Result<Wanted> {
  const reading: Reading = { state, draft: new Draft(state), parts, options, problems: [], places: new Map() };
  const names = place(reading, 'collections', ['collection']);
  const fields = place(reading, 'fields', ['collection', 'field']);
  const relations = placeRelations(reading);
  if (reading.problems.length > 0) return refuse(...reading.problems);
  if (options.mode === 'mirror') removeMissing(reading, names, fields, relations);
  readCollections(reading, names);
  readFields(reading, fields);
  readRelations(reading, relations);
  if (reading.problems.length > 0) return refuse(...reading.problems);
  const wanted = { state: reading.draft.toState(), touched: reading.draft.touched };
  const problems = invariantProblems(wanted.state, wanted.touched);
  return problems.length > 0 ? refuse(...problems.map((problem) => located(reading, problem))) : ok(wanted);
}

type Documents = Map<string, { names: string[]; input: { [member: string]: unknown }; at: Path }>;

/** The documents of a part by the names they carry; each name once. */
function place(reading: Reading, part: 'collections' | 'fields', members: string[]): Documents {
  return collect(reading, part, (input, at) => {
    for (const member of members) {
      if (typeof input[member] !== 'string') return invalid([...at, member], `${member} is required, a string`);
    }
    return members.map((member) => input[member] as string);
  });
}

/** Relations name themselves flat (many_collection, many_field) or nested (collection, field). */
function placeRelations(reading: Reading): Documents {
  return collect(reading, 'relations', (input, at) => {
    const collection = input['many_collection'] ?? input['collection'];
    const field = input['many_field'] ?? input['field'];
    if (typeof collection !== 'string')
      return invalid([...at, 'many_collection'], 'many_collection is required, a string');
    if (typeof field !== 'string') return invalid([...at, 'many_field'], 'many_field is required, a string');
    return [collection, field];
  });
}

function collect(
  { parts, problems, places }: Reading,
  part: keyof SnapshotParts,
  namesOf: (input: { [member: string]: unknown }, at: Path) => string[] | Problem,
): Documents {
  const documents: Documents = new Map();
  for (const [index, input] of (parts[part] ?? []).entries()) {
    const at = [part, index];
    const names = isObject(input) ? namesOf(input, at) : invalid(at, 'an object is expected');
    if (!Array.isArray(names)) {
      problems.push(names);
      continue;
    }
    const id = key(...names);
    if (isSystemCollection(names[0] as string)) {
      problems.push(invalid(at, `${JSON.stringify(names[0])} is a system collection; leave it out of the snapshot`));
    } else if (documents.has(id))
      problems.push(invalid(at, `${JSON.stringify(names.join('.'))} stands in ${part} twice`));
    documents.set(id, { names, input: input as { [member: string]: unknown }, at });
    places.set(key(part, ...names), at);
  }
  return documents;
}

function removeMissing(
  { state, draft, parts }: Reading,
  names: Documents,
  fields: Documents,
  relations: Documents,
): void {
  for (const [name, node] of state.collections) {
    if (parts.collections !== undefined && !names.has(name)) {
      dropCollection(draft, state, name);
      continue;
    }
    for (const relation of parts.relations === undefined ? [] : node.relations.values()) {
      const gone = !relations.has(key(name, relation.many_field));
      if (gone && draft.get(name)?.relations.has(relation.many_field)) dropRelation(draft, relation);
    }
    for (const field of parts.fields === undefined ? [] : node.fields.keys()) {
      if (!fields.has(key(name, field)) && draft.get(name)?.fields.has(field)) draft.removeField(name, field);
    }
  }
}

function readCollections({ state, draft, options, problems }: Reading, documents: Documents): void {
  for (const { names, input, at } of documents.values()) {
    const [name] = names as [string];
    const node = state.collections.get(name);
    const held = draft.get(name)?.collection;
    if (node !== undefined && held === node.collection && jsonEqual(input, shownCollection(state, node))) continue;
    const existing = held ?? node?.collection;
    const read =
      existing === undefined ? readNewCollection(input, at, options) : mergeCollection(existing, input, at, options);
    if (!read.ok) problems.push(...read.problems);
    else if (!jsonEqual(read.value, held)) draft.putCollection(read.value);
  }
}

function readFields({ state, draft, options, problems }: Reading, documents: Documents): void {
  const shown = new Map<string, unknown>();
  for (const { names, input, at } of documents.values()) {
    const [collection, field] = names as [string, string];
    const holder = draft.get(collection);
    if (holder === undefined) {
      problems.push(
        invalid([...at, 'collection'], `there is no collection ${JSON.stringify(collection)} in the snapshot`),
      );
      continue;
    }
    const node = state.collections.get(collection);
    if (node !== undefined && !shown.has(collection)) {
      shown.set(collection, new Map(shownFields(state, node).map((each) => [each.field, each])));
    }
    const held = holder.fields.get(field);
    const existing = held ?? node?.fields.get(field);
    const current = (shown.get(collection) as Map<string, unknown> | undefined)?.get(field);
    if (held !== undefined && held === node?.fields.get(field) && jsonEqual(input, current)) continue;
    const read =
      existing === undefined ? readNewField(input, at, { ...options }) : mergeField(existing, input, at, options);
    if (!read.ok) problems.push(...read.problems);
    else if (!jsonEqual(read.value, held)) draft.putField(read.value);
  }
}

function readRelations({ state, draft, options, problems }: Reading, documents: Documents): void {
  for (const { names, input, at } of documents.values()) {
    const [collection, field] = names as [string, string];
    const holder = draft.get(collection);
    if (holder === undefined) {
      problems.push(
        invalid([...at, 'many_collection'], `there is no collection ${JSON.stringify(collection)} in the snapshot`),
      );
      continue;
    }
    const held = holder.relations.get(field);
    if (held !== undefined && jsonEqual(input, held)) continue;
    const existing = held ?? state.collections.get(collection)?.relations.get(field);
    const read =
      existing === undefined ? readNewRelation(input, at, options) : mergeRelation(existing, input, at, options);
    if (!read.ok) problems.push(...read.problems);
    else if (held === undefined || !jsonEqual(read.value, relationBody(held))) draft.putRelation(read.value);
  }
}

/** Problems of the result name what they are about; the caller wants the place in the snapshot. */
function located({ places }: Reading, problem: Problem): Problem {
  const { collection = '', field } = problem;
  const candidates =
    field === undefined
      ? [key('collections', collection)]
      : problem.path === 'meta.group'
        ? [key('fields', collection, field)]
        : [key('relations', collection, field), key('fields', collection, field)];
  const at = candidates.map((candidate) => places.get(candidate)).find((found) => found !== undefined);
  if (at === undefined) return problem;
  const [part, index] = at;
  return { ...problem, path: `${part}[${index}]${problem.path ? `.${problem.path}` : ''}` };
}
