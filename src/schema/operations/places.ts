/** Locations in request bodies of collections, fields and relations. */
import { isObject } from '../../kernel/json.js';
import { relationPlace } from '../normal-form/relation-shape.js';
import type { Path } from '../../kernel/problem.js';
import { type Place, type Places, documentPlace, stepsIn } from '../../kernel/locate.js';

/** A body that may contain members of `meta` at its top level. */
export function requestPlace(at: Path, body: unknown): Place {
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

/** Bodies of collections with their fields. */
export function collectionPlaces(bodies: readonly CollectionBody[]): Places {
  const named = firstBy(bodies, ({ collection }) => collection);
  const fieldsIn = new Map<CollectionBody, (field: string) => [index: number, field: unknown] | undefined>();
  const fieldsOf = (body: CollectionBody) => {
    const found = fieldsIn.get(body) ?? firstBy(fieldsWithin(body), ([, field]) => nameOf(field));
    fieldsIn.set(body, found);
    return found;
  };
  return {
    collection(name) {
      const found = named(name);
      return found && requestPlace(found.at, found.body);
    },
    field(name, field) {
      const body = named(name);
      const [index, found] = (body && fieldsOf(body)(field)) ?? [];
      return body && index !== undefined ? requestPlace([...body.at, 'fields', index], found) : undefined;
    },
  };
}

function fieldsWithin({ body }: CollectionBody): [index: number, field: unknown][] {
  return isObject(body) && Array.isArray(body['fields']) ? [...body['fields'].entries()] : [];
}

const nameOf = (field: unknown): unknown => (isObject(field) ? field['field'] : undefined);

/** Finds the first item of a name. The index is built on demand, because most bodies never need it. */
function firstBy<T>(items: readonly T[], keyOf: (item: T) => unknown): (name: string) => T | undefined {
  let known: Map<unknown, T> | undefined;
  return (name) => {
    known ??= new Map(items.toReversed().map((item) => [keyOf(item), item]));
    return known.get(name);
  };
}

interface FieldBody {
  field: string;
  body: unknown;
  at: Path;
}

/** Bodies of fields of one collection. */
export function fieldPlaces(collection: string, bodies: readonly FieldBody[]): Places {
  const named = firstBy(bodies, ({ field }) => field);
  return {
    field(name, field) {
      const found = name === collection ? named(field) : undefined;
      return found && requestPlace(found.at, found.body);
    },
  };
}

/** The body of one relation. */
export function relationPlaces(collection: string, field: string, body: unknown): Places {
  return {
    relation: (name, many) => (name === collection && many === field ? relationPlace([], body) : undefined),
  };
}

/** The request with the names of tables to adopt. */
export function adoptPlaces(tables: readonly string[]): Places {
  return {
    collection(name) {
      const index = tables.indexOf(name);
      return index < 0 ? undefined : documentPlace(['tables', index], name);
    },
  };
}
