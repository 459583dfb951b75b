/** Reads new relations and changes of existing ones. */
import { isObject, jsonEqual } from '../../kernel/json.js';
import type { ForeignKey, NewRelation, Relation } from '../model/model.js';
import { stepsIn } from '../../kernel/locate.js';
import { invalid, ok, type Path, refuse, type Result } from '../../kernel/problem.js';
import { complain, type Reading } from './checks.js';
import { foreignKeyDefaults, type KeyedEnds, readForeignKey } from './foreign-key.js';
import { type ReadOptions, startReading } from './options.js';
import { overlay } from './overlay.js';
import { ENDS, END_DEFAULTS, type Ends } from './relation-members.js';
import { flattenRelation, relationSteps } from './relation-shape.js';

/**
 * Reads a new relation in the flat form or the nested form of Directus. An object as `schema` is a foreign key, null is
 * none. If absent, `foreignKeyByDefault` decides. `id` is ignored.
 */
export function readNewRelation(input: unknown, at: Path, options: ReadOptions): Result<NewRelation> {
  if (!isObject(input)) return refuse(invalid(at, 'a relation is a JSON object'));
  const reading = startReading(input, at, {
    ...options,
    stepsTo: options.stepsTo ?? ((steps) => stepsIn(input, relationSteps(steps, input))),
  });
  const { members, schema } = flattenRelation(input, reading);
  const many_collection = requiredName('many_collection', members, reading);
  const many_field = requiredName('many_field', members, reading);
  if (members['one_collection'] === undefined && members['one_allowed_collections'] === undefined) {
    complain(
      reading,
      ['one_collection'],
      'is required: the collection it points at, or null with one_allowed_collections',
    );
  }
  const ends = readEnds(members, END_DEFAULTS, reading);
  const relation = { many_collection, many_field, ...ends };
  const given =
    schema ??
    (schema === undefined && options.foreignKeyByDefault === true && ends.one_collection !== null ? {} : null);
  const base = foreignKeyDefaults(relation);
  return finish(
    { ...relation, schema: given === null ? null : readForeignKey(given, base, relation, reading) },
    reading,
  );
}

/**
 * Returns `existing` with the members of `input`, without its id. Returns `existing` itself if nothing differs. An
 * absent `schema` keeps the foreign key, null drops it, and an object changes or creates it.
 */
export function mergeRelation(existing: Relation, input: unknown, at: Path, options: ReadOptions): Result<NewRelation> {
  if (!isObject(input)) return refuse(invalid(at, 'a relation is a JSON object'));
  const reading = startReading(input, at, {
    ...options,
    stepsTo: options.stepsTo ?? ((steps) => stepsIn(input, relationSteps(steps, input))),
  });
  const { members, schema } = flattenRelation(input, reading, { ...existing });
  for (const name of ['many_collection', 'many_field'] as const) {
    if (members[name] === undefined || members[name] === existing[name]) continue;
    complain(reading, [name], `must be ${JSON.stringify(existing[name])}, or left out: it identifies the relation`);
  }
  const { id: _, schema: before, ...present } = existing;
  const relation = { ...present, ...readEnds(members, present, reading) };
  // A relation to several tables cannot keep a foreign key.
  const kept = relation.one_collection === null && existing.one_collection !== null ? null : before;
  const ends = { ...relation, was: existing.one_collection };
  const merged = { ...relation, schema: mergeForeignKey(kept, schema, ends, reading) };
  const result = finish(merged, reading);
  return result.ok && jsonEqual({ ...merged, id: existing.id }, existing) ? ok(existing) : result;
}

function mergeForeignKey(
  before: ForeignKey | null,
  given: unknown,
  relation: KeyedEnds,
  reading: Reading,
): ForeignKey | null {
  if (given === undefined || given === null) return given === null ? null : before;
  return readForeignKey(given, before ?? foreignKeyDefaults(relation), relation, reading);
}

function requiredName(name: string, members: Record<string, unknown>, reading: Reading): string {
  const value = members[name];
  if (typeof value === 'string' && value !== '') return value;
  complain(reading, [name], 'is required: a name, as a string');
  return '';
}

function readEnds(members: Record<string, unknown>, base: Ends, reading: Reading): Ends {
  const { many_collection: _, many_field: __, ...input } = members;
  return overlay(base, { input, table: ENDS, others: () => false, part: [] }, reading);
}

function finish(relation: NewRelation, reading: Reading): Result<NewRelation> {
  const { one_collection, one_collection_field, one_allowed_collections, schema } = relation;
  if (one_collection === null) {
    const told = reading.problems.length > 0;
    if (!told && (one_allowed_collections === null || one_collection_field === null)) {
      const message =
        'must name a collection; a many-to-any relation needs one_allowed_collections and one_collection_field';
      complain(reading, ['one_collection'], message);
    }
    if (schema !== null) complain(reading, ['schema'], 'must be null: a many-to-any relation has no foreign key');
  } else if (one_collection_field !== null || one_allowed_collections !== null) {
    const message =
      'must be null with one_allowed_collections or one_collection_field, which are for many-to-any relations';
    complain(reading, ['one_collection'], message);
  }
  if (reading.problems.length === 0) return ok(relation);
  return refuse(...reading.problems);
}
