/** Restores foreign keys that are no relations: its own and those that referenced it. */
import { constraintColumns } from '../sql-text/columns.js';
import type { Collection } from '../model/model.js';
import { byName, extrasOf, extrasOfTable, referencesTo } from '../model/state.js';
import { AS_ASKED, type Restoring, noCollection } from './restore-context.js';
import { withExtras, withoutConstraints } from './table-extras.js';

/** Foreign keys that cannot be restored unchanged are added to `left`. */
export function restoreConstraints(restoring: Restoring): void {
  const { past, name, isThere, left } = restoring;
  keepOwn(restoring);
  for (const other of referencesTo(past, name)) {
    if (other === name || !isThere(other)) continue;
    const constraints = extrasOf(past.collections.get(other)).constraints ?? [];
    for (const constraint of constraints.filter(({ references }) => references === name)) {
      const reason = obstacle(restoring, other, constraint);
      if (reason === undefined) put(restoring, other, constraint);
      else
        left.push({ kind: 'constraint', collection: other, reason: `${JSON.stringify(constraint.name)}: ${reason}` });
    }
  }
}

type Constraint = NonNullable<ReturnType<typeof extrasOf>['constraints']>[number];

/** Keeps its own foreign keys if the referenced objects exist. */
function keepOwn(restoring: Restoring): void {
  const { draft, name, isThere, isLeft, left } = restoring;
  const own = draft.get(name)?.collection;
  if (!own?.schema) return;
  const isGone = ({ name: key, references }: Constraint): boolean =>
    references !== undefined && references !== name && (isLeft(key) || !isThere(references));
  for (const constraint of (extrasOfTable(own.schema).constraints ?? []).filter(isGone)) {
    const reason = isLeft(constraint.name) ? AS_ASKED : noCollection(restoring, constraint.references);
    left.push({ kind: 'constraint', collection: name, reason: `${JSON.stringify(constraint.name)}: ${reason}` });
  }
  const schema = withoutConstraints(own.schema, isGone);
  if (schema !== own.schema) draft.putCollection({ ...own, schema });
}

function obstacle(
  { draft, isLeft, isThereField }: Restoring,
  other: string,
  { name, definition }: Constraint,
): string | undefined {
  const there = extrasOf(draft.get(other)).constraints ?? [];
  if (isLeft(name)) return AS_ASKED;
  if (there.some((each) => each.name === name)) return 'another constraint is called so now';
  const gone = [...constraintColumns(definition)].find((column) => !isThereField(other, column));
  return gone === undefined ? undefined : `the field ${JSON.stringify(gone)} is gone`;
}

function put({ draft }: Restoring, other: string, constraint: Constraint): void {
  const held = draft.get(other)?.collection as Collection;
  if (held.schema === null) return;
  const { constraints = [] } = extrasOfTable(held.schema);
  const all = [...constraints, constraint].sort((a, b) => byName(a.name, b.name));
  draft.putCollection({ ...held, schema: withExtras(held.schema, { ...held.schema.extras, constraints: all }) });
}
