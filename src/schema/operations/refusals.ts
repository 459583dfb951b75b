/** Problems that several operations share. */
import type { Problem } from '../../kernel/problem.js';
import type { State } from '../model/state.js';
import { isSystemCollection } from '../model/system-collections.js';

/** NOT_FOUND, with the submitted name. */
export function missingCollection({ collections }: State, collection: string): Problem {
  const message = `there is no collection ${JSON.stringify(collection)}${composedHint(collections, collection)}`;
  return { code: 'NOT_FOUND', message, collection };
}

/** Names that look the same can differ in their characters: macOS spells "é" as two, and stored names have one. */
function composedHint(names: { has(name: string): boolean }, sent: string): string {
  const composed = sent.normalize('NFC');
  if (composed === sent || !names.has(composed)) return '';
  return `, but ${JSON.stringify(composed)} exists: send the name in Unicode normalization form NFC`;
}

/** FORBIDDEN. Undefined if the name is no system collection. */
export function systemCollection(collection: string): Problem | undefined {
  if (!isSystemCollection(collection)) return undefined;
  const message = `${JSON.stringify(collection)} is a system collection; it can't be changed through the API`;
  return { code: 'FORBIDDEN', message, collection };
}

/** For reads within a collection. System collections are listed, but their contents are not. */
export function noFieldsListed(state: State, collection: string): Problem {
  if (!isSystemCollection(collection)) return missingCollection(state, collection);
  const message = `${JSON.stringify(collection)} belongs to the service: its fields and relations are not shown`;
  return { code: 'NOT_FOUND', message, collection };
}

/** NOT_FOUND, in an existing collection. */
export function missingField({ collections }: State, collection: string, field: string): Problem {
  const hint = composedHint(collections.get(collection)?.fields ?? new Map(), field);
  const message = `there is no field ${JSON.stringify(field)} in ${JSON.stringify(collection)}${hint}`;
  return { code: 'NOT_FOUND', message, collection, field };
}
