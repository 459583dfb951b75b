/** Schemas changed in distinguishable ways, for both sides of a merge. */
import fc from 'fast-check';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { changeProblems } from '../../../src/schema/invariants/index.js';
import type { Collection, Field } from '../../../src/schema/model/model.js';
import { type CollectionNode, type State, byName } from '../../../src/schema/model/state.js';
import { defaultPrimaryKey, readNewCollection, readNewField } from '../../../src/schema/normal-form/index.js';
import { dropCollection, dropField } from '../../../src/schema/transition/cascade.js';
import { Draft } from '../../../src/schema/transition/draft.js';
import { renameEvent } from '../../../src/schema/transition/renames.js';
import { schemaState } from '../../support/arbitraries.js';

/** Some states already use some of them. */
const NAMES = ['zeta', 'eta 2', '__proto__', 'posts', "it's"];
/** Never used before: a file cannot describe that a table is dropped and another one takes its name. */
const NEW_NAMES = ['zeta', 'eta 2', 'posts'];

export const edit = fc.record({
  kind: fc.constantFrom(
    ...(['note', 'field note', 'option', 'nullable', 'length', 'type', 'add field', 'drop field'] as const),
    ...(['add', 'drop', 'rename', 'rename field'] as const),
  ),
  collection: fc.nat(7),
  field: fc.nat(7),
  name: fc.constantFrom(...NAMES),
  value: fc.constantFrom('a', 'b', 'c'),
});
export type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

/** With identities for everything, like the log. */
export const identifiedState: fc.Arbitrary<State> = schemaState.map((state) => {
  const draft = new Draft(state);
  let position = 0;
  for (const name of [...state.collections.keys()].sort(byName)) {
    position += 1;
    const fields = [...(state.collections.get(name)?.fields.keys() ?? [])];
    const at = String(position);
    draft.identify(name, new Map(fields.map((field, index) => [field, `${at}.${index + 1}`])), at);
  }
  return draft.toState();
});

/** The state after all possible edits. */
export const edited = (state: State, edits: readonly Edit[]): State =>
  edits.reduce((before, each) => {
    const draft = new Draft(before);
    const after = apply(before, draft, each) ?? draft.toState();
    // Names are compared by identity, so checking against the base gives the same result.
    const touched = new Set([...before.collections.keys(), ...after.collections.keys()]);
    const isRename = each.kind.startsWith('rename');
    const problems = runToEnd(changeProblems({ from: isRename ? after : before, to: after, touched }));
    return problems.length === 0 ? after : before;
  }, state);

interface Editing extends Edit {
  state: State;
  draft: Draft;
  /** The collection of the edit. */
  table: string;
  node: CollectionNode;
}

type Of<T> = (editing: Editing, of: T) => State | void;

/** The effect of each edit; a state if it is not a draft's. */
const OF_TABLES: Partial<Record<Edit['kind'], Of<Collection>>> = {
  note: ({ draft, value }, source) => draft.putCollection({ ...source, meta: { ...source.meta, note: value } }),
  drop: ({ draft, state, table }) => dropCollection(draft, state, table),
  rename: ({ state, table, name }) =>
    state.collections.has(name) ? undefined : renameEvent(state, { collection: table, field: null, to: name }).after,
  'add field': ({ draft, node, table, name, value }, { schema }) => {
    if (!node.fields.has(name) && schema !== null) draft.putField(newField(table, name, value));
  },
};

const isText = ({ type, schema }: Field): boolean => type === 'string' && schema?.is_primary_key === false;

const OF_FIELDS: Partial<Record<Edit['kind'], Of<Field>>> = {
  'field note': ({ draft, value }, source) => draft.putField({ ...source, meta: { ...source.meta, note: value } }),
  option: ({ draft, name, value }, source) => {
    const options = { ...(source.meta.options as object), [name]: value };
    draft.putField({ ...source, meta: { ...source.meta, options } });
  },
  nullable: ({ draft }, source) => {
    const { schema } = source;
    if (schema?.is_primary_key === false)
      draft.putField({ ...source, schema: { ...schema, is_nullable: !schema.is_nullable } });
  },
  length: ({ draft, value }, source) => {
    const { schema } = source;
    if (schema !== null && isText(source))
      draft.putField({ ...source, schema: { ...schema, max_length: 300 + value.charCodeAt(0) } });
  },
  type: ({ draft }, source) => {
    const { schema } = source;
    if (schema !== null && isText(source))
      draft.putField({ ...source, type: 'text', schema: { ...schema, data_type: 'text', max_length: null } });
  },
  'drop field': ({ draft, state, table }, { field, schema }) => {
    if (schema?.is_primary_key !== true) dropField(draft, state, table, field);
  },
  'rename field': ({ state, node, table, name }, { field }) =>
    node.fields.has(name) ? undefined : renameEvent(state, { collection: table, field, to: name }).after,
};

function apply(state: State, draft: Draft, each: Edit): State | void {
  if (each.kind === 'add') return addTable(draft, NEW_NAMES[each.field % NEW_NAMES.length] as string);
  const table = nth([...state.collections.keys()], each.collection);
  const node = state.collections.get(table);
  if (node === undefined) return;
  const editing = { ...each, state, draft, table, node };
  const field = node.fields.get(nth([...node.fields.keys()], each.field));
  const ofField = OF_FIELDS[each.kind];
  if (ofField === undefined) return OF_TABLES[each.kind]?.(editing, node.collection);
  return field === undefined ? undefined : ofField(editing, field);
}

/** Wraps around at the end. */
const nth = (names: string[], index: number): string => names.sort(byName)[index % Math.max(names.length, 1)] ?? '';

function addTable(draft: Draft, name: string): void {
  if (draft.get(name) !== undefined) return;
  const read = readNewCollection({ collection: name, schema: {} }, [], { imported: false });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  draft.putCollection(read.value);
  draft.putField(defaultPrimaryKey(name));
}

function newField(collection: string, field: string, note: string): Field {
  const read = readNewField({ collection, field, type: 'string', meta: { note } }, [], { imported: false });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value;
}
