/** Converts a step to an operation on existing objects. */
import type { OperationName } from '../../src/schema/operations/index.js';
import type { CollectionNode, State } from '../../src/schema/model/state.js';
import type { Picks, Step } from './steps.js';

/** The operation and its input; `fill`: rows for a table. */
export type Move = { operation: OperationName; input: unknown } | { fill: string };

type MoveOf = { [D in Step['do']]: (step: Extract<Step, { do: D }>, at: MoveTarget) => Move };

interface MoveTarget {
  nodes: CollectionNode[];
}

const pick = <T>(all: readonly T[], index: number): T | undefined => all[index % Math.max(all.length, 1)];

const nameOf = (node: CollectionNode | undefined): string => node?.collection.collection ?? 'nowhere';

function placeOf(nodes: CollectionNode[], at: Picks) {
  const [node, other] = [pick(nodes, at.one), pick(nodes, at.other)];
  const fields = [...(node?.fields.keys() ?? [])];
  const alias = [...(other?.fields.values() ?? [])].find(({ schema }) => schema === null);
  return {
    collection: nameOf(node),
    one: nameOf(other),
    field: pick(fields, at.field) ?? 'nothing',
    second: pick(fields, at.second) ?? 'nothing',
    alias: alias?.field ?? null,
    related: relatedOf(node, at),
  };
}

/** A relation field, if there is one. */
function relatedOf(node: CollectionNode | undefined, at: Picks): string {
  const relations = [...(node?.relations.keys() ?? [])];
  return pick(relations, at.field) ?? pick([...(node?.fields.keys() ?? [])], at.field) ?? 'nothing';
}

/** `@` in a patch is the name of another field, quoted within an expression. */
function filled(body: object, name: string): unknown {
  const quoted = `"${name.replaceAll('"', '""')}"`;
  return JSON.parse(JSON.stringify(body), (member, value: unknown) => {
    if (typeof value !== 'string' || !value.includes('@')) return value;
    return member === 'generation_expression' ? value.replaceAll('@', () => quoted) : value.replaceAll('@', () => name);
  });
}

const MOVES: MoveOf = {
  create: ({ name, fields, concurrentIndexes }) => ({
    operation: 'create-collection',
    input: { body: { collection: name, schema: {}, fields: fields.map(withInterface) }, concurrentIndexes },
  }),
  folder: ({ name, meta }) => ({
    operation: 'create-collections',
    input: { body: [{ collection: name, schema: null, meta }], concurrentIndexes: false },
  }),
  describe({ picks: at, meta, weak }, { nodes }) {
    const { collection, one, field: archive_field, second } = placeOf(nodes, at);
    const names = weak ? { archive_field, sort_field: second, group: one } : {};
    return { operation: 'update-collection', input: { collection, body: { meta: { ...meta, ...names } } } };
  },
  drop: ({ picks: at }, { nodes }) => ({
    operation: 'delete-collection',
    input: { collection: placeOf(nodes, at).collection },
  }),
  add: ({ picks: at, field: body, concurrentIndexes }, { nodes }) => ({
    operation: 'create-field',
    input: { collection: placeOf(nodes, at).collection, body, concurrentIndexes },
  }),
  compute({ picks: at, name, expression: text, concurrentIndexes }, { nodes }) {
    const fields = [...(pick(nodes, at.one)?.fields.values() ?? [])];
    const numbers = fields.filter(({ type }) => type === 'integer' || type === 'bigInteger');
    const schema = { generation_expression: text ?? '@ + 1', is_indexed: at.second % 2 === 0 };
    const body = filled({ field: name, type: 'bigInteger', schema }, pick(numbers, at.field)?.field ?? 'id');
    return { operation: 'create-field', input: { collection: placeOf(nodes, at).collection, body, concurrentIndexes } };
  },
  change({ picks: at, patch: body, concurrentIndexes }, { nodes }) {
    const { collection, field: name, second } = placeOf(nodes, at);
    return {
      operation: 'update-fields',
      input: { collection, field: name, body: filled(body, second), concurrentIndexes },
    };
  },
  'change two'({ picks: at, patch: body, other, concurrentIndexes }, { nodes }) {
    const { collection, field: name, second } = placeOf(nodes, at);
    const bodies = [
      { ...(filled(body, second) as object), field: name },
      { ...(filled(other, name) as object), field: second },
    ];
    return { operation: 'update-fields', input: { collection, body: bodies, concurrentIndexes } };
  },
  remove({ picks: at }, { nodes }) {
    const { collection, field: name } = placeOf(nodes, at);
    return { operation: 'delete-field', input: { collection, field: name } };
  },
  relate({ picks: at, any, key: keyed, rule: on_delete, alias, fits }, { nodes }) {
    const { collection, one, field, second, alias: shown } = placeOf(nodes, at);
    const many_field = (fits ? findMatchingField(nodes, at) : undefined) ?? field;
    const ends = any
      ? { one_collection: null, one_allowed_collections: [one], one_collection_field: second }
      : { one_collection: one, one_field: alias ? shown : null, schema: keyed ? { on_delete } : null };
    return { operation: 'create-relation', input: { body: { many_collection: collection, many_field, ...ends } } };
  },
  turn({ picks: at, how, rule: on_update }, { nodes: all }) {
    const nodes = withRelations(all);
    const { collection, related, second } = placeOf(nodes, at);
    const { one, alias } = placeOf(all, at);
    const bodies = [
      { one_collection: one },
      { one_collection: one, one_field: alias },
      { schema: null },
      { schema: { on_update } },
      { schema: { constraint_name: 'by hand' } },
      { one_collection: null, one_allowed_collections: [one, collection], one_collection_field: second },
      { sort_field: second, junction_field: second },
    ];
    return { operation: 'update-relation', input: { collection, field: related, body: pick(bodies, how) } };
  },
  unrelate({ picks: at }, { nodes }) {
    const { collection, related } = placeOf(withRelations(nodes), at);
    return { operation: 'delete-relation', input: { collection, field: related } };
  },
  rename({ picks: at, field: to }, { nodes }) {
    const { collection, field: name } = placeOf(nodes, at);
    return {
      operation: 'update-fields',
      input: { collection, field: name, body: { field: to }, concurrentIndexes: false },
    };
  },
  fill: ({ picks: at }, { nodes }) => ({ fill: placeOf(nodes, at).collection }),
};

/** Collections with relations, if any. */
function withRelations(nodes: CollectionNode[]): CollectionNode[] {
  const holders = nodes.filter(({ relations }) => relations.size > 0);
  return holders.length > 0 ? holders : nodes;
}

/** A field whose type matches the target key. */
function findMatchingField(nodes: CollectionNode[], at: Picks): string | undefined {
  const key = [...(pick(nodes, at.other)?.fields.values() ?? [])].find(({ schema }) => schema?.is_primary_key);
  const fields = [...(pick(nodes, at.one)?.fields.values() ?? [])];
  const fit = fields.filter(({ schema }) => schema?.data_type === key?.schema?.data_type);
  return pick(fit, at.field)?.field;
}

const withInterface = (body: { meta: object }) => ({ ...body, meta: { ...body.meta, interface: 'input' } });

export function moveOf(taken: Step, state: State): Move {
  const nodes = [...state.collections.values()].sort((a, b) =>
    a.collection.collection < b.collection.collection ? -1 : 1,
  );
  const move = MOVES[taken.do] as (taken: Step, at: MoveTarget) => Move;
  return move(taken, { nodes });
}
