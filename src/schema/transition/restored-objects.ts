/* Finds which objects of a deleted table can be restored with it: triggers, policies, statistics objects and so on. */
import { type SchemaObject, objectKey, objectLabel, routineId } from '../model/objects.js';
import { type State, hasFunction, hasView } from '../model/state.js';
import { type ParsedDefinition, parseDefinition } from '../sql-text/object-definition.js';

interface DeletedTable {
  state: State;
  /** The state before the deletion, with the names of that time. */
  past: State;
  /** The names of the table before the deletion and after the restore. */
  names: { former: string; now: string };
  /** True if a collection still has the name that it had before the deletion. */
  isThere(collection: string): boolean;
  /** Explains as the end of a sentence why a collection cannot be used. */
  explainMissing(collection: string): string;
}

interface RestoredObject {
  object: SchemaObject;
  /** The reason as the end of a sentence. Undefined if the object can be restored. */
  obstacle: string | undefined;
}

/**
 * Without a restrictive policy, the other policies would show more rows than before, so none of them is restored.
 * @param objects the objects of the table, with its name after the restore
 */
export function findRestoredObjects(objects: readonly SchemaObject[], table: DeletedTable): RestoredObject[] {
  const checked = objects.map((object) => {
    const parsed = parseDefinition(object.definition);
    if (typeof parsed === 'string') return { object, policy: null, obstacle: undefined };
    if (table.state.objects.has(objectKey(object)))
      return { object, policy: parsed.policy, obstacle: 'another object now has its name' };
    return { object, policy: parsed.policy, obstacle: findObstacle(parsed, table) };
  });
  const lost = checked.find(({ policy, obstacle }) => obstacle !== undefined && policy?.isPermissive === false);
  if (lost === undefined) return checked;
  const reason = `the restrictive ${objectLabel(lost.object)} cannot be restored`;
  return checked.map(({ object, policy, obstacle }) => ({
    object,
    obstacle: obstacle ?? (policy === null ? undefined : reason),
  }));
}

/**
 * A definition keeps the names of the time of the deletion, except that of its own table. A renamed table is an obstacle,
 * because another one may have its name now. PostgreSQL decides about roles and about functions that are not managed.
 */
function findObstacle({ calls, trigger, relations }: ParsedDefinition, table: DeletedTable): string | undefined {
  const { state, past, names, isThere, explainMissing } = table;
  const [called, inCondition] = trigger === null ? [undefined, calls] : [calls[0], calls.slice(1)];
  const id = routineId(called?.name ?? '', '');
  const key = objectKey({ kind: 'function', id });
  if (past.objects.has(key) && !state.objects.has(key)) return `function ${JSON.stringify(id)} no longer exists`;
  const missing = inCondition.find((call) => hasFunction(past, call.name) && !hasFunction(state, call.name));
  if (missing !== undefined) return `function ${JSON.stringify(missing.name)} no longer exists`;
  const isUnchanged = (name: string): boolean => (name === names.former ? name === names.now : isThere(name));
  // The first relation is the table itself.
  const other = relations.slice(1).find(({ name }) => past.collections.has(name) && !isUnchanged(name));
  if (other !== undefined) return explainMissing(other.name);
  const view = relations.find(({ name }) => hasView(past, name) && !hasView(state, name));
  return view && `view ${JSON.stringify(view.name)} no longer exists`;
}
