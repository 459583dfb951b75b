/** One collection compared with one table `t`, in short form. */
import { expect } from 'chai';
import type { CatalogColumn, CatalogTable } from '../../../src/projector/catalog/model.js';
import { compareTable } from '../../../src/projector/verify/compare-table.js';
import type { SpelledColumn } from '../../../src/projector/verify/equivalent-definitions.js';
import type { ColumnExtras, TableExtras } from '../../../src/schema/model/extras.js';
import type { NewEvent } from '../../../src/schema/model/events.js';
import type { Field } from '../../../src/schema/model/model.js';
import { type State, initialState } from '../../../src/schema/model/state.js';
import { follow } from '../../support/given.js';
import { type Objects, catalogColumn, catalogConstraint, catalogObjects, catalogTable } from '../catalog-tables.js';
import { created, type tableOf, column } from '../columns.js';

export interface Compared {
  fields?: Field[];
  extras?: TableExtras;
  relations?: NewEvent[];
  columns?: CatalogColumn[];
  table?: Partial<CatalogTable>;
  objects?: Objects;
  spelled?: Record<string, Partial<SpelledColumn>>;
  pending?: string[];
}

export const KEY = catalogConstraint('t_pkey', 'primary key', { columns: ['id'], definition: 'PRIMARY KEY (id)' });
export const ID = catalogColumn('id', 'integer', { nullable: false, identity: 'by default' });
const HERE = { where: 'catalog', collection: 't' } as const;

function stateOf({ fields = [], extras, relations = [] }: Compared): State {
  const event = created('t', fields);
  const { data } = event as { data: { collection: ReturnType<typeof tableOf> } };
  const schema = { comment: null, ...(extras === undefined ? {} : { extras }) };
  const made = { ...event, data: { ...data, collection: { ...data.collection, schema } } } as NewEvent;
  return follow(initialState(), [created('other'), made, ...relations]);
}

/** The differences as field, member, expected and found. */
export function differences(compared: Compared): unknown[] {
  const { columns = [], table = {}, objects, spelled = {}, pending = [] } = compared;
  const state = stateOf(compared);
  const node = state.collections.get('t');
  if (node === undefined) throw new Error('no collection');
  const inCatalog = catalogTable('t', { columns: [ID, ...columns], constraints: [KEY], ...table });
  return compareTable(node, inCatalog, {
    state,
    schema: 'public',
    isPending: (collection, field) => collection === 't' && pending.includes(field),
    spelled: new Map(
      Object.entries(spelled).map(([field, each]) => [
        `t\0${field}`,
        { type: 'text', collation: null, default: null, generated: null, ...each },
      ]),
    ),
    objects: catalogObjects(objects),
  }).map((each) => {
    expect(each).to.include(HERE);
    const { field = null, member, expected, found: there } = each;
    return [field, member, expected, there];
  });
}

/** A field with extras, which only adopted columns have. */
export function withExtras(field: Field, extras: ColumnExtras, more: object = {}): Field {
  return { ...field, schema: { ...field.schema, extras, ...more } } as Field;
}

export const text = (more: object = {}): Field => column('a', 'text', more);
export const there = (more: Partial<CatalogColumn> = {}): CatalogColumn => catalogColumn('a', 'text', more);
