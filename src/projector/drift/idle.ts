/** Statements that make sure of what is there already: they would change nothing. */
import type pg from 'pg';
import type { Need } from '../../schema/extras.js';
import type { CollectionNode } from '../../schema/state.js';
import type { CatalogObjects } from '../catalog/objects.js';
import { createNeed } from '../ddl/create-need.js';
import { ownSequence } from '../ddl/needs.js';
import type { Sides } from './sides.js';

export interface Beside extends CatalogObjects {
  /** Names of all types of the schema. */
  typeNames: ReadonlySet<string>;
}

export async function readTypeNames(client: pg.ClientBase, schema: string): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT t.typname::text AS name FROM pg_catalog.pg_type t
       JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE n.nspname = $1`,
    [schema],
  );
  return new Set(rows.map(({ name }) => name));
}

export function withoutIdle<S extends Pick<Sides, 'statements'>>(
  sides: S,
  { collection }: CollectionNode,
  { beside, schema }: { beside: Beside; schema: string },
): S {
  const needs = collection.schema?.extras?.needs ?? [];
  const idle = new Set<string>();
  for (const need of needs) {
    if (isThere(need, beside)) idle.add(createNeed(need, schema));
    if (isOwned(need, collection.collection, beside)) idle.add(ownSequence(need, schema, collection.collection));
  }
  return { ...sides, statements: sides.statements.filter(({ sql }) => !idle.has(sql)) };
}

function isThere({ kind, name }: Need, { extensions, sequences, typeNames }: Beside): boolean {
  if (kind === 'extension') return extensions.has(name);
  return kind === 'sequence' ? sequences.has(name) : typeNames.has(name);
}

type Owned = Extract<Need, { kind: 'sequence' }> & { owned_by: string };

function isOwned(need: Need, table: string, { sequences }: Beside): need is Owned {
  if (need.kind !== 'sequence' || need.owned_by === undefined) return false;
  const owner = sequences.get(need.name)?.owner;
  return owner?.table === table && owner.column === need.owned_by;
}
