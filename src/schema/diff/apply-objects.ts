/* Applies the items of a diff about views and materialized views to a draft. */
import { type Path, invalid } from '../../kernel/problem.js';
import { type SchemaObject, objectLabel } from '../model/objects.js';
import type { ObjectNode } from '../model/state.js';
import { readNewObject } from '../normal-form/object.js';
import type { Draft } from '../transition/draft.js';
import { renamedObject } from '../transition/objects.js';
import { identifierFault } from '../normal-form/names.js';
import { type ApplyContext, type Target, applyEntries } from './apply-entries.js';
import type { ObjectDiff } from './diff.js';
import { conflict, isRemoval, isRenameEntry } from './entries.js';

/** Removals come first and release names, then renames, which may exchange names, then all other items. */
export function applyObjects(context: ApplyContext, items: readonly ObjectDiff[]): void {
  const { draft, findings } = context;
  const all = [...items.entries()];
  const others = all.filter(([, { diff }]) => !isRemoval(diff));
  for (const [index, item] of all) if (isRemoval(item.diff)) applyEntries(findings, targetOf(draft, item, index));
  const renamed = others.flatMap(([index, item]) => takeRenamed(context, item, ['diff', 'objects', index]));
  for (const { node, to, at } of renamed) {
    const object = renamedObject(node.object, to);
    if (draft.object(object) !== undefined)
      findings.conflicts.push(conflict(at, `${objectLabel(object)} already exists`));
    else draft.putObject(object, node.identity);
  }
  for (const [index, item] of others) {
    if (item.diff.every((entry) => isRenameEntry(entry, 'id'))) continue;
    applyEntries(findings, targetOf(draft, item, index));
  }
}

interface RenamedNode {
  node: ObjectNode;
  to: string;
  at: Path;
}

/** Takes the object of a rename entry out of the draft. Empty if the item has no such entry, or a wrong one. */
function takeRenamed({ draft, findings }: ApplyContext, { kind, id, diff }: ObjectDiff, item: Path): RenamedNode[] {
  const index = diff.findIndex((entry) => isRenameEntry(entry, 'id'));
  if (index < 0) return [];
  const at = [...item, 'diff', index];
  const { lhs, rhs } = diff[index] as { lhs: unknown; rhs: unknown };
  const fault = identifierFault(id);
  if (rhs !== id || fault !== null) {
    const message = fault === null ? `rhs must be ${JSON.stringify(id)}, the id of the item` : `the name ${fault}`;
    findings.problems.push(invalid([...at, 'rhs'], message));
    return [];
  }
  const node = typeof lhs === 'string' ? draft.takeObject({ kind, id: lhs }) : undefined;
  if (node !== undefined) return [{ node, to: id, at }];
  findings.conflicts.push(conflict([...at, 'lhs'], 'no object of that name exists, so it cannot be renamed'));
  return [];
}

function targetOf(draft: Draft, { kind, id, diff }: ObjectDiff, index: number): Target<SchemaObject> {
  return {
    at: ['diff', 'objects', index],
    diff,
    renamedBy: 'id',
    current: draft.object({ kind, id }),
    read: readNewObject,
    isMeant: (read) => read.kind === kind && read.id === id,
    put: (value) => draft.putObject(value),
    remove: () => draft.removeObject({ kind, id }),
  };
}
