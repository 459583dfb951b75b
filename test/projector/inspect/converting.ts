import type { TableConversion } from '../../../src/projector/inspect/needs.js';
import type { CatalogTable } from '../../../src/projector/catalog/model.js';
import type { NewEvent } from '../../../src/schema/model/events.js';
import type { TableExtras } from '../../../src/schema/model/extras.js';
import type { Field } from '../../../src/schema/model/model.js';
import { type CollectionNode, initialState } from '../../../src/schema/model/state.js';
import { follow } from '../../support/given.js';
import { type Objects, catalogObjects, catalogTable } from '../catalog-tables.js';
import { created, tableOf } from '../columns.js';

export interface ConversionInput {
  objects?: Objects;
  /** The known collection. */
  like?: { fields?: Field[]; extras?: TableExtras; relations?: NewEvent[] };
  /** Managed tables with `id` as their key. */
  managed?: string[];
  folders?: string[];
  /** Tables adopted with it. */
  together?: (string | CatalogTable)[];
}

export function converting(table: Partial<CatalogTable>, given: ConversionInput = {}): TableConversion {
  const { objects, like, managed = [], folders = [], together = [] } = given;
  const folded = follow(initialState(), [
    ...managed.map((name) => created(name)),
    ...folders.map((name) => ({ ...created(name), data: { collection: tableOf(name, null), fields: [] } }) as NewEvent),
  ]);
  const beside = together.map((each) => (typeof each === 'string' ? catalogTable(each) : each));
  return {
    schema: 'public',
    table: catalogTable('t', table),
    objects: catalogObjects(objects),
    state: folded,
    together: new Map(beside.map((each) => [each.name, each])),
    like: like === undefined ? undefined : known(like),
    notes: [],
  };
}

function known({ fields = [], extras, relations = [] }: NonNullable<ConversionInput['like']>): CollectionNode {
  const state = follow(initialState(), [created('other'), created('t', fields), ...relations]);
  const node = state.collections.get('t');
  if (node === undefined) throw new Error('no collection');
  const schema = { comment: null, ...(extras === undefined ? {} : { extras }) };
  return { ...node, collection: { ...node.collection, schema } };
}
