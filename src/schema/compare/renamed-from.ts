/**
 * Reads `renamed_from`, the former name of a collection or field in a submitted snapshot. It is an instruction and
 * never stored, so it is removed before documents are compared.
 */
import { inverse } from '../../kernel/inverse.js';
import { isObject } from '../../kernel/json.js';
import { MAX_PROBLEMS, type Path, type Problem, invalid } from '../../kernel/problem.js';
import { type Resumable, pausingEvery } from '../../kernel/resumable.js';
import type { Warning } from '../../kernel/warning.js';
import type { Names } from '../fold/replace-names.js';
import type { State } from '../model/state.js';
import { isSystemCollection } from '../model/system-collections.js';
import { checkName } from '../normal-form/names.js';
import { quoted } from '../../kernel/quoted.js';
import type { Renames } from '../transition/renames.js';

export interface RenamedFrom {
  renames: Renames;
  /** The snapshot without the member. */
  body: { [member: string]: unknown };
  /** Warnings about names that do not exist. */
  notes: Warning[];
  problems: Problem[];
}

const MEMBER = 'renamed_from';

/** Documents per step. */
const STEP = 1_000;

/** If `problems` is not empty, the rest of the result is unusable. */
export function* readRenamedFrom(state: State, body: { [member: string]: unknown }): Resumable<RenamedFrom> {
  const tables = yield* said(body['collections'], 'collections');
  const columns = yield* said(body['fields'], 'fields');
  const found: RenamedFrom = { renames: { collections: new Map(), fields: new Map() }, body, notes: [], problems: [] };
  if (tables.length + columns.length === 0) return found;
  const collections = yield* collectionRenames(state, { documents: body['collections'], said: tables }, found);
  const sent = { documents: body['fields'], said: columns };
  const fields = yield* fieldRenames(state, { ...sent, collections }, found);
  return { ...found, renames: { collections, fields }, body: yield* without(body) };
}

interface Said {
  at: Path;
  document: { [member: string]: unknown };
}

function* said(part: unknown, name: 'collections' | 'fields'): Resumable<Said[]> {
  const found: Said[] = [];
  const pause = pausingEvery(STEP);
  for (const [index, document] of Array.isArray(part) ? part.entries() : []) {
    yield* pause();
    if (isObject(document) && Object.hasOwn(document, MEMBER)) found.push({ at: [name, index], document });
  }
  return found;
}

function* without(body: { [member: string]: unknown }): Resumable<{ [member: string]: unknown }> {
  const others: { [member: string]: unknown } = {};
  for (const part of ['collections', 'fields']) {
    const documents = body[part];
    if (!Array.isArray(documents)) continue;
    const cleaned: unknown[] = [];
    const pause = pausingEvery(STEP);
    for (const document of documents) {
      yield* pause();
      cleaned.push(withoutMember(document));
    }
    others[part] = cleaned;
  }
  return { ...body, ...others };
}

function withoutMember(document: unknown): unknown {
  if (!isObject(document) || !Object.hasOwn(document, MEMBER)) return document;
  const { [MEMBER]: _, ...rest } = document;
  return rest;
}

/** The renames of one namespace. */
interface Naming {
  kind: 'collection' | 'field';
  from: string;
  to: string;
  at: Path;
  /** True if an object has the name now. */
  isThere: (name: string) => boolean;
  /** True if the snapshot contains the name. */
  isSent: (name: string) => boolean;
  /** The renames read so far. */
  names: Map<string, string>;
  place: { collection: string; field?: string };
  /** True to warn about missing names. */
  notes: boolean;
}

function* collectionRenames(state: State, { documents, said: all }: Documents, found: RenamedFrom): Resumable<Names> {
  const names = new Map<string, string>();
  const sent = yield* sentNames(documents, ({ collection }) => collection);
  for (const { at, document } of all) {
    if (found.problems.length >= MAX_PROBLEMS) break;
    const { collection: to } = document;
    const from = textAt(document, at, found);
    // An invalid name is reported when the document is read.
    if (from === undefined || typeof to !== 'string') continue;
    if (isSystemCollection(from) || isSystemCollection(to)) {
      found.problems.push(invalid([...at, MEMBER], 'a collection of the service has one name, and keeps it'));
      continue;
    }
    const isThere = (name: string) => state.collections.has(name);
    const isSent = (name: string) => sent.has(name);
    decide({ kind: 'collection', from, to, at, isThere, isSent, names, place: { collection: to }, notes: true }, found);
  }
  return names;
}

interface Documents {
  documents: unknown;
  /** Those with a former name. */
  said: Said[];
}

function* fieldRenames(
  state: State,
  { documents, said: all, collections }: Documents & { collections: Names },
  found: RenamedFrom,
): Resumable<Renames['fields']> {
  const former = inverse(collections);
  const fields = new Map<string, Map<string, string>>();
  const sent = yield* sentNames(documents, ({ collection, field }) => `${String(collection)}\0${String(field)}`);
  for (const { at, document } of all) {
    if (found.problems.length >= MAX_PROBLEMS) break;
    const { collection, field: to } = document;
    const from = textAt(document, at, found);
    if (from === undefined || typeof collection !== 'string' || typeof to !== 'string') continue;
    const node = state.collections.get(former.get(collection) ?? collection);
    const names = fields.get(collection) ?? new Map<string, string>();
    const isThere = (name: string) => node?.fields.has(name) === true;
    const isSent = (name: string) => sent.has(`${collection}\0${name}`);
    const place = { collection, field: to };
    decide({ kind: 'field', from, to, at, isThere, isSent, names, place, notes: node !== undefined }, found);
    if (names.size > 0) fields.set(collection, names);
  }
  return fields;
}

function* sentNames(
  documents: unknown,
  nameOf: (document: { [member: string]: unknown }) => unknown,
): Resumable<ReadonlySet<unknown>> {
  const names = new Set<unknown>();
  const pause = pausingEvery(STEP);
  for (const document of Array.isArray(documents) ? documents : []) {
    yield* pause();
    if (isObject(document)) names.add(nameOf(document));
  }
  return names;
}

function textAt(document: { [member: string]: unknown }, at: Path, { problems }: RenamedFrom): string | undefined {
  const value = document[MEMBER];
  if (typeof value === 'string') return value;
  problems.push(invalid([...at, MEMBER], `${MEMBER} must be the former name, a string`));
  return undefined;
}

function decide(naming: Naming, { notes, problems }: RenamedFrom): void {
  const { kind, from, to, at, isThere, isSent, names, place } = naming;
  const refused = fault(naming);
  if (refused !== null) {
    problems.push({ ...invalid([...at, MEMBER], refused), ...place });
    return;
  }
  if (isThere(from) && !isSent(from)) {
    problems.push(...checkName(kind, to, [...at, kind]));
    names.set(from, to);
  } else if (!isThere(to) && naming.notes) {
    const message = `there is no ${kind} ${quoted(from)} to rename: ${quoted(to)} is created`;
    notes.push({ code: 'RENAMED_FROM_NOTHING', ...place, message });
  }
}

function fault({ kind, from, to, isThere, isSent, names }: Naming): string | null {
  if (from === to) return `${MEMBER} must be another name than the one the ${kind} has`;
  if (names.has(from))
    return `${quoted(from)} can become one ${kind} only; it is ${quoted(names.get(from) ?? null)} already`;
  if (!isThere(from)) return null;
  if (isThere(to))
    return `there are both ${quoted(from)} and ${quoted(to)}: nothing is renamed to what is there already; leave ${MEMBER} out, or delete one of them first`;
  if (!isSent(from)) return null;
  return `${quoted(from)} stands in the snapshot too: what is renamed leaves its name; take the other one into a later snapshot`;
}
