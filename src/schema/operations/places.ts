/** Where things stand in the bodies of requests about collections, fields and relations. */
import { isObject } from '../../kernel/json.js';
import { relationPlace } from '../normal-form/relation-shape.js';
import type { Path } from '../../kernel/problem.js';
import { type Place, type Places, documentPlace, stepsIn } from '../../kernel/locate.js';

/** A body that may have the members of `meta` at its top level, by the names they have there. */
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

/** Bodies of collections, each with its fields. */
export function collectionPlaces(bodies: readonly CollectionBody[]): Places {
  const bodyOf = (name: string) => bodies.find(({ collection }) => collection === name);
  return {
    collection(name) {
      const found = bodyOf(name);
      return found && requestPlace(found.at, found.body);
    },
    field(name, field) {
      const { body, at } = bodyOf(name) ?? {};
      const fields: unknown[] = isObject(body) && Array.isArray(body['fields']) ? body['fields'] : [];
      const index = fields.findIndex((each) => isObject(each) && each['field'] === field);
      return index < 0 ? undefined : requestPlace([...(at ?? []), 'fields', index], fields[index]);
    },
  };
}

interface FieldBody {
  field: string;
  body: unknown;
  at: Path;
}

/** Bodies of fields of one collection. */
export function fieldPlaces(collection: string, bodies: readonly FieldBody[]): Places {
  return {
    field(name, field) {
      const found = name === collection ? bodies.find((each) => each.field === field) : undefined;
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

/** The request that names tables to adopt. */
export function adoptPlaces(tables: readonly string[]): Places {
  return {
    collection(name) {
      const index = tables.indexOf(name);
      return index < 0 ? undefined : documentPlace(['tables', index], name);
    },
  };
}
