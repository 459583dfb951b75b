/* Reads the objects other than tables of a submitted snapshot. */
import { isObject } from '../../kernel/json.js';
import { MAX_PROBLEMS, type Problem, type Result, invalidProblem } from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type Definition, type ObjectName, type SchemaObject, objectKey, objectLabel } from '../model/objects.js';
import { type State, getObject } from '../model/state.js';
import { mergeObject, readNewObject } from '../normal-form/object.js';
import { isSameDefinition } from '../sql-text/object-definition.js';
import type { Draft } from '../transition/draft.js';
import type { SnapshotParts } from './submitted-documents.js';

/** Tells which definitions PostgreSQL found equal although their parse trees differ. */
export interface ObjectEquality {
  isSame(existing: Definition, definition: Definition): boolean;
}

export const NO_EQUALITY: ObjectEquality = { isSame: () => false };

/** Returns the definitions of a snapshot whose parse trees differ from the existing ones. */
export function* findDifferingDefinitions(state: State, body: unknown): Resumable<[string, string][]> {
  const differing: [string, string][] = [];
  const documents: unknown = isObject(body) ? body['objects'] : undefined;
  for (const document of Array.isArray(documents) ? (documents as unknown[]) : []) {
    yield;
    if (!isObject(document)) continue;
    const { kind, id, definition } = document;
    const existing = getObject(state, { kind, id } as ObjectName);
    if (typeof existing?.definition !== 'string' || typeof definition !== 'string') continue;
    if (!isSameDefinition(existing.definition, definition)) differing.push([existing.definition, definition]);
  }
  return differing;
}

interface Reading {
  state: State;
  draft: Draft;
  parts: Pick<SnapshotParts, 'objects'>;
  problems: Problem[];
}

/** Puts the objects of the snapshot into the draft. If the snapshot has no part `objects`, nothing changes. */
export function* readObjects(
  { state, draft, parts: { objects }, problems }: Reading,
  { mode, equality }: { mode: 'mirror' | 'merge'; equality: ObjectEquality },
): Resumable<void> {
  if (objects === undefined) return;
  const sent = new Map<string, SchemaObject>();
  for (const [index, document] of objects.entries()) {
    if (problems.length >= MAX_PROBLEMS) return;
    yield;
    const read = readObject(state, document, { index, equality });
    if (!read.ok) problems.push(...read.problems);
    else if (sent.has(objectKey(read.value)))
      problems.push(invalidProblem(['objects', index], `${objectLabel(read.value)} occurs more than once in objects`));
    else sent.set(objectKey(read.value), read.value);
  }
  if (mode === 'mirror' && problems.length === 0) removeOthers(state, draft, sent);
  // A trigger that was removed with its table or view may be on the view or table that takes its name.
  for (const object of sent.values()) if (object !== draft.object(object)) draft.putObject(object);
}

function removeOthers({ objects }: State, draft: Draft, sent: ReadonlyMap<string, SchemaObject>): void {
  for (const [key, { object }] of objects) if (!sent.has(key)) draft.removeObject(object);
}

function readObject(
  state: State,
  document: unknown,
  { index, equality }: { index: number; equality: ObjectEquality },
): Result<SchemaObject> {
  const at = ['objects', index];
  const existing = isObject(document) ? getObject(state, document as unknown as ObjectName) : undefined;
  return existing === undefined
    ? readNewObject(document, at)
    : mergeObject(existing, keepStoredText(existing, document, equality), at);
}

/** Keeps the stored text of a definition if the submitted text has the same meaning. */
function keepStoredText(existing: SchemaObject, document: unknown, { isSame }: ObjectEquality): unknown {
  if (!isObject(document) || typeof document['definition'] !== 'string') return document;
  return isSame(existing.definition, document['definition'])
    ? { ...document, definition: existing.definition }
    : document;
}
