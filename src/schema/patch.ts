/** Changes inside a value as RFC 6902 patches: how `*.updated` events carry them. */
import jsonPatch from 'fast-json-patch';
import type { Operation } from 'fast-json-patch';
import { copyJson, isObject, jsonEqual } from './json.js';

/** Steps that an applying library refuses, because assigning to them changes an object's prototype. */
const UNSAFE_STEP = /\/(__proto__|constructor|prototype)(\/|$)/;

/**
 * The patch that turns `before` into `after`, two documents with the same members. Inner values are patched member
 * by member, except where that would need an unsafe step: then the whole inner value is replaced.
 */
export function patchBetween(before: object, after: object): Operation[] {
  const patch = jsonPatch.compare(before, after);
  if (!patch.some((operation) => UNSAFE_STEP.test(operation.path))) return patch;
  return replaceMembers(before, after, '');
}

function replaceMembers(before: object, after: object, path: string): Operation[] {
  const patch: Operation[] = [];
  for (const [member, value] of Object.entries(after)) {
    const old = (before as Record<string, unknown>)[member];
    if (jsonEqual(old, value)) continue;
    const at = `${path}/${jsonPatch.escapePathComponent(member)}`;
    // meta and schema are ours and have fixed members: one level deeper keeps the patch small and still safe.
    if (path === '' && isObject(old) && isObject(value)) patch.push(...replaceMembers(old, value, at));
    else patch.push({ op: 'replace', path: at, value });
  }
  return patch;
}

/** Applies a patch from the log. Neither `document` nor the patch is changed. Throws where the patch doesn't fit. */
export function applyPatch<T extends object>(document: T, patch: readonly Operation[]): T {
  return jsonPatch.applyPatch(openFor(document, patch), patch, false, true, true).newDocument as T;
}

/** A copy of `document` along the paths that the patch changes; the rest is shared, because copying it is dear. */
function openFor(document: object, patch: readonly Operation[]): Record<string, unknown> {
  const copy: Record<string, unknown> = { ...document };
  const opened = new Set<string>();
  for (const { path } of patch) {
    const [first, second, deeper] = path.split('/', 4).slice(1).map(jsonPatch.unescapePathComponent);
    if (first === undefined || second === undefined || !isObject(copy[first])) continue;
    if (!opened.has(first)) copy[first] = { ...copy[first] };
    opened.add(first);
    if (deeper !== undefined) openInner(copy[first] as Record<string, unknown>, second, opened, `${first}/${second}`);
  }
  return copy;
}

function openInner(parent: Record<string, unknown>, member: string, opened: Set<string>, key: string): void {
  if (opened.has(key)) return;
  opened.add(key);
  parent[member] = copyJson(parent[member]);
}
