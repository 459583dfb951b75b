/** Random commands, mostly acceptable, reproducible by seed. */
import type { OperationName } from '../../src/schema/operations/index.js';
import { parsed } from './given.js';
import { type CollectionNode, type State, primaryKeyOf } from '../../src/schema/model/state.js';

export interface RandomCommand {
  name: OperationName;
  command: unknown;
}

type Draw = (below: number) => number;

const TYPES = ['string', 'text', 'integer', 'boolean', 'timestamp', 'json'];

/** @returns the next command for a state */
export function createRandomCommands(seed: number): (state: State) => RandomCommand {
  const draw = generator(seed);
  return (state) => {
    for (;;) {
      const [name, input] = drawInput(state, draw);
      const command = parsed(name, input);
      if (command.ok) return { name, command: command.value };
    }
  };
}

function drawInput(state: State, draw: Draw): [OperationName, unknown] {
  const all = [...state.collections.values()];
  const nodes = all.filter((node) => node.collection.schema !== null);
  const node = nodes[draw(nodes.length)];
  const kind = draw(100);
  const any = all[draw(all.length)]?.collection.collection;
  if (any !== undefined && kind < (all.length > 15 ? 8 : 3)) return ['delete-collection', { collection: any }];
  if (any !== undefined && kind >= 97) return ['rename-collection', { collection: any, body: { to: `c${draw(25)}` } }];
  if (node === undefined || kind < 14) return ['create-collection', newCollection(state, draw)];
  return kind < 84 ? fieldOrMeta(node, kind, draw) : relationInput({ node, nodes, draw });
}

function fieldOrMeta(node: CollectionNode, kind: number, draw: Draw): [OperationName, unknown] {
  const { collection } = node.collection;
  if (kind < 32) return ['update-collection', { collection, body: { meta: randomMeta(node, draw) } }];
  if (kind < 50) return ['create-field', { collection, body: newField(draw), concurrentIndexes: false }];
  const field = [...node.fields.keys()][draw(node.fields.size)] ?? 'id';
  if (kind < 56) return ['delete-field', { collection, field }];
  if (kind < 62) return ['rename-field', { collection, field, body: { to: `f${draw(12)}` } }];
  return ['update-fields', { collection, field, body: fieldChange(draw), concurrentIndexes: false }];
}

function newCollection(state: State, draw: Draw): unknown {
  const folder = draw(6) === 0;
  const folders = [...state.collections.values()].filter((node) => node.collection.schema === null);
  const group = folders[draw(folders.length * 2)]?.collection.collection ?? null;
  const body = { collection: `c${draw(25)}`, schema: folder ? null : {}, meta: { note: `n${draw(9)}`, group } };
  const fields = Array.from({ length: draw(4) }, () => newField(draw));
  return { body: folder ? body : { ...body, fields }, concurrentIndexes: false };
}

function newField(draw: Draw): object {
  const type = TYPES[draw(TYPES.length)] ?? 'string';
  const schema = type === 'json' ? {} : { is_nullable: draw(2) === 0, is_indexed: draw(3) === 0 };
  const meta = { interface: 'input', options: { b: draw(5), a: ["it's", draw(3)] } };
  return { field: `f${draw(12)}`, type, meta, schema };
}

function randomMeta(node: CollectionNode, draw: Draw): object {
  const fields = [...node.fields.keys()];
  return [
    { note: `note ${draw(100)}` },
    { sort_field: fields[draw(fields.length)] ?? null },
    { translations: [{ language: 'de-DE', translation: `t${draw(5)}` }] },
    { hidden: draw(2) === 0, color: `#${draw(9)}${draw(9)}${draw(9)}` },
  ][draw(4)] as object;
}

function fieldChange(draw: Draw): object {
  return [
    { meta: { note: `note ${draw(100)}`, sort: draw(9) } },
    { meta: { options: { b: draw(5), ['~/']: draw(5), z: { y: [draw(4)] } } } },
    { schema: { comment: `comment ${draw(100)}` } },
    { schema: { is_nullable: draw(2) === 0 } },
    { schema: { is_indexed: draw(2) === 0 } },
    { type: 'text', schema: { data_type: 'text' } },
  ][draw(6)] as object;
}

interface Threads {
  node: CollectionNode;
  nodes: CollectionNode[];
  draw: Draw;
}

function relationInput({ node, nodes, draw }: Threads): [OperationName, unknown] {
  const { collection } = node.collection;
  const held = [...node.relations.keys()];
  const field = held[draw(held.length * 2)];
  if (field !== undefined && draw(2) === 0) return ['delete-relation', { collection, field }];
  if (field !== undefined) {
    const body = { one_deselect_action: draw(2) === 0 ? 'nullify' : 'delete' };
    return ['update-relation', { collection, field, body }];
  }
  const one = nodes[draw(nodes.length)] as CollectionNode;
  const key = primaryKeyOf(one)[0]?.schema?.data_type;
  const fitting = [...node.fields.values()].filter(
    (each) => each.schema?.data_type === key && each.schema?.is_nullable,
  );
  const many = fitting[draw(fitting.length)]?.field ?? 'f0';
  const body = {
    many_collection: collection,
    many_field: many,
    one_collection: one.collection.collection,
    schema: { on_delete: 'SET NULL' },
  };
  return ['create-relation', { body }];
}

/** Numbers from 0 below a limit (mulberry32). */
export function generator(seed: number): Draw {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}
