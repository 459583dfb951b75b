import { expect } from 'chai';
import type { Collection, Field, NewRelation, Relation } from '../../../src/schema/model/model.js';
import {
  mergeCollection,
  mergeField,
  mergeRelation,
  readNewCollection,
  readNewField,
  readNewRelation,
  type FieldReadOptions,
} from '../../../src/schema/normal-form/index.js';
import type { Result } from '../../../src/kernel/problem.js';
import type { Json } from '../../../src/kernel/json.js';

export const STRICT: FieldReadOptions = { imported: false };
export const FORCED: FieldReadOptions = { imported: true };

export function valueOf<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(`refused: ${JSON.stringify(result.problems)}`);
  return result.value;
}

/** The problems as `path: message`; empty on success. */
export function faultsOf(result: Result<unknown>): string[] {
  return result.ok ? [] : result.problems.map(({ path, message }) => `${path ?? ''}: ${message}`);
}

/** The paths of the problems. */
export function pathsOf(result: Result<unknown>): (string | undefined)[] {
  return result.ok ? [] : result.problems.map(({ path }) => path);
}

type Members = Record<string, unknown>;

/** A new field `articles.title`. */
export function field(members: Members, options = STRICT): Result<Field> {
  return readNewField({ collection: 'articles', field: 'title', ...members }, [], options);
}

/** The column of a new field. */
export function column(type: string, schema: Members = {}, options = STRICT): Members | null {
  return valueOf(field({ type, schema }, options)).schema;
}

export function changed(existing: Field, input: Members, options = STRICT): Result<Field> {
  return mergeField(existing, input, [], options);
}

export function collection(members: Members, options = STRICT): Result<Collection> {
  return readNewCollection({ collection: 'articles', schema: {}, ...members }, [], options);
}

export function changedCollection(existing: Collection, input: unknown, options = STRICT): Result<Collection> {
  return mergeCollection(existing, input, [], options);
}

export function relation(
  members: Members,
  options: Parameters<typeof readNewRelation>[2] = STRICT,
): Result<NewRelation> {
  return readNewRelation({ many_collection: 'articles', many_field: 'author', ...members }, [], options);
}

export function changedRelation(existing: Relation, input: unknown, options = STRICT): Result<NewRelation> {
  return mergeRelation(existing, input, [], options);
}

/** The document after JSON serialization. */
export function sent<T>(document: T): T {
  return JSON.parse(JSON.stringify(document)) as T;
}

/** The normalized default of a column; the message if it does not fit. */
export function defaultOf(
  type: string,
  value: unknown,
  schema: Members = {},
  options = STRICT,
): Json | { wrong: string } {
  const read = field({ type, schema: { ...schema, default_value: value } }, options);
  return read.ok ? (read.value.schema?.default_value ?? null) : { wrong: faultsOf(read).join('\n') };
}

/**
 * Expects each error at the member whose name the error begins with, for example `meta.sort: sort must be …`. The
 * location of a missing member is the one that it would have.
 */
export function expectInPlace(faults: readonly string[], sent: Members): void {
  const parts = ['meta', 'schema'].filter((part) => typeof sent[part] === 'object' && sent[part] !== null);
  for (const fault of faults) {
    const [path, output = ''] = fault.split(': ', 2);
    const name = output.split(' ')[0] ?? '';
    if (name === 'the') continue;
    const places = [
      ...(Object.hasOwn(sent, name) || output.includes(' is required') ? [name] : []),
      ...parts.filter((part) => Object.hasOwn(sent[part] as Members, name)).map((part) => `${part}.${name}`),
    ];
    expect(places, fault).to.include(path);
  }
}
