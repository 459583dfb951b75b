/* Defines the interface of all operations. */
import type { Draft } from '../transition/draft.js';
import type { LogEvent, SchemaEvent } from '../model/events.js';
import { type Locations, locate, type DocumentLocation, documentLocation, stepsIn } from '../../kernel/locate.js';
import { type Result, ok, refuse, type Problem, type Path } from '../../kernel/problem.js';
import type { State } from '../model/state.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type TrashNode, restoringTransition } from '../transition/restoring-transition.js';
import { type RequestedBackfill, resolveBackfills } from './backfills.js';
import type { TransitionOptions } from '../transition/context.js';
import { changeProblems } from '../invariants/index.js';
import { isObject } from '../../kernel/json.js';
import { relationLocation } from '../normal-form/relation.js';
import { isSystemCollection } from '../model/system-collections.js';

/** An operation. `Decided` is the type of its events. */
export interface Operation<Name extends string, Input, Command, Decided extends LogEvent = SchemaEvent> {
  /** An imperative phrase that is stored with the events: `create-collection`. */
  name: Name;
  /**
   * Converts untrusted input to a command. Checks shapes, types and names independently of the schema. For large input,
   * it is resumable.
   */
  parse(input: Input): Result<Command> | Resumable<Result<Command>>;
  /** Returns the events of a command, or its problems. For changes that can be large, it is resumable. */
  decide(state: State, command: Command): Result<Decided[]> | Resumable<Result<Decided[]>>;
  /** Locates objects in the submitted body, for problems that are found after the decision. */
  locations?(command: Command): Locations;
  /** Returns the collections that the command deletes, if it names them. */
  deletes?(command: Command): readonly string[];
  /** Returns the collections whose columns the command may change, as far as it names them. */
  alters?(command: Command): readonly string[];
  /** True if the command probably needs no data from the database and locks no existing table. */
  isLight?(command: Command): boolean;
}

interface DraftOptions extends Omit<TransitionOptions, 'backfills'> {
  backfills?: readonly RequestedBackfill[];
  /** Trash entries of further objects that the draft restores. */
  found?: readonly TrashNode[];
}

/** Validates the draft and returns the ordered events. `places` maps objects to locations in the submitted body. */
export function* decideDraft(
  state: State,
  draft: Draft,
  options: DraftOptions = {},
  locations: Locations = {},
): Resumable<Result<SchemaEvent[]>> {
  const desired = draft.toState();
  const touched = draft.touched;
  const isRecreated = (collection: string, field: string) => draft.isRecreated(collection, field);
  const problems = yield* changeProblems({ from: state, to: desired, touched, isRecreated });
  if (problems.length > 0) return refuse(...problems.map((problem) => locate(problem, locations)));
  const { found = [], backfills: requested = [], ...rest } = options;
  const backfills = resolveBackfills(state, desired, requested);
  if (!backfills.ok) return refuse(...backfills.problems.map((problem) => locate(problem, locations)));
  const transitionOptions = { ...rest, backfills: backfills.value };
  return ok(yield* restoringTransition({ from: state, to: desired, touched, options: transitionOptions }, found));
}

/* Locations in request bodies of collections, fields and relations. */

/** Returns the location of a body that may contain members of `meta` at its top level. */
export function requestLocation(at: Path, body: unknown): DocumentLocation {
  return {
    at,
    stepsTo(member) {
      const [part, name, ...rest] = member;
      if (part !== 'meta' || typeof name !== 'string' || !isObject(body)) return stepsIn(body, member);
      const meta = body['meta'];
      if (isObject(meta) && Object.hasOwn(meta, name)) return stepsIn(body, member);
      const top = [name, name === 'translations' ? 'translation' : name].find((each) => Object.hasOwn(body, each));
      return top === undefined ? stepsIn(body, member) : stepsIn(body, [top, ...rest]);
    },
  };
}

interface CollectionBody {
  collection: string;
  body: unknown;
  at: Path;
}

/** Returns the locations in bodies of collections with their fields. */
export function collectionLocations(bodies: readonly CollectionBody[]): Locations {
  const named = createFinder(bodies, ({ collection }) => collection);
  const fieldsIn = new Map<CollectionBody, (field: string) => [index: number, field: unknown] | undefined>();
  const fieldsOf = (body: CollectionBody) => {
    const fields = fieldsIn.get(body) ?? createFinder(fieldsWithin(body), ([, field]) => nameOf(field));
    fieldsIn.set(body, fields);
    return fields;
  };
  return {
    collection(name) {
      const position = named(name);
      return position && requestLocation(position.at, position.body);
    },
    field(name, field) {
      const body = named(name);
      const [index, entry] = (body && fieldsOf(body)(field)) ?? [];
      return body && index !== undefined ? requestLocation([...body.at, 'fields', index], entry) : undefined;
    },
  };
}

function fieldsWithin({ body }: CollectionBody): [index: number, field: unknown][] {
  return isObject(body) && Array.isArray(body['fields']) ? [...body['fields'].entries()] : [];
}

const nameOf = (field: unknown): unknown => (isObject(field) ? field['field'] : undefined);

/**
 * Returns a function that finds the first item of a name. The index is built at the first call, because most bodies
 * never need it.
 */
function createFinder<T>(items: readonly T[], keyOf: (item: T) => unknown): (name: string) => T | undefined {
  let itemsByKey: Map<unknown, T> | undefined;
  return (name) => {
    itemsByKey ??= new Map(items.toReversed().map((item) => [keyOf(item), item]));
    return itemsByKey.get(name);
  };
}

interface FieldBody {
  field: string;
  body: unknown;
  at: Path;
}

/** Returns the locations in bodies of fields of one collection. */
export function fieldLocations(collection: string, bodies: readonly FieldBody[]): Locations {
  const named = createFinder(bodies, ({ field }) => field);
  return {
    field(name, field) {
      const index = name === collection ? named(field) : undefined;
      return index && requestLocation(index.at, index.body);
    },
  };
}

/** Returns the locations in the body of one relation. */
export function relationLocations(collection: string, field: string, body: unknown): Locations {
  return {
    relation: (name, many) => (name === collection && many === field ? relationLocation([], body) : undefined),
  };
}

/** Returns the locations in a request with the names of tables to adopt. */
export function adoptLocations(tables: readonly string[]): Locations {
  return {
    collection(name) {
      const index = tables.indexOf(name);
      return index < 0 ? undefined : documentLocation(['tables', index], name);
    },
  };
}

/* Create problems that several operations share. */

/** Creates the problem NOT_FOUND with the submitted name. */
export function missingCollection({ collections }: State, collection: string): Problem {
  const message = `collection ${JSON.stringify(collection)} does not exist${composedHint(collections, collection)}`;
  return { code: 'NOT_FOUND', message, collection };
}

/**
 * Adds a hint if a name exists in another Unicode form. Such names look the same but consist of different characters.
 * macOS encodes "é" as two characters, and stored names use one.
 */
function composedHint(names: { has(name: string): boolean }, sent: string): string {
  const composed = sent.normalize('NFC');
  if (composed === sent || !names.has(composed)) return '';
  return `, but ${JSON.stringify(composed)} exists: send the name in Unicode normalization form NFC`;
}

/** Creates the problem FORBIDDEN. Undefined if the name is not that of a system collection. */
export function systemCollection(collection: string): Problem | undefined {
  if (!isSystemCollection(collection)) return undefined;
  const message = `${JSON.stringify(collection)} is a system collection and cannot be changed through the API`;
  return { code: 'FORBIDDEN', message, collection };
}

/**
 * Creates the problem of reading within a system collection. System collections are listed, but their contents are not.
 */
export function createNoFieldsProblem(state: State, collection: string): Problem {
  if (!isSystemCollection(collection)) return missingCollection(state, collection);
  const message = `${JSON.stringify(collection)} belongs to the service, which does not show its fields and relations`;
  return { code: 'NOT_FOUND', message, collection };
}

/** Creates the problem NOT_FOUND for a field of an existing collection. */
export function missingField({ collections }: State, collection: string, field: string): Problem {
  const hint = composedHint(collections.get(collection)?.fields ?? new Map(), field);
  const message = `field ${JSON.stringify(field)} of collection ${JSON.stringify(collection)} does not exist${hint}`;
  return { code: 'NOT_FOUND', message, collection, field };
}
