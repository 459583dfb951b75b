import type { Field } from '../../schema/model/model.js';
import { newField } from './column-defaults.js';

export interface Preset {
  name: string;
  label: string;
  help: string;
  field: (collection: string) => Field;
}

const stamp = (name: string, label: string, special: string): Preset => ({
  name,
  label,
  help: `timestamp, set when an item is ${special === 'date-created' ? 'created' : 'updated'}`,
  field: (collection) =>
    newField({
      collection,
      field: name,
      type: 'timestamp',
      meta: {
        interface: 'datetime',
        display: 'datetime',
        special: [special],
        readonly: true,
        hidden: true,
        width: 'half',
      },
      ...(special === 'date-created' && { schema: { default_value: 'now()' } }),
    }),
});

export const PRESETS: readonly Preset[] = [
  {
    name: 'status',
    label: 'Status',
    help: 'draft, published or archived; archived items are hidden by default',
    field: (collection) =>
      newField({
        collection,
        field: 'status',
        type: 'string',
        meta: {
          interface: 'select-dropdown',
          display: 'labels',
          width: 'full',
          options: {
            choices: ['published', 'draft', 'archived'].map((value) => ({
              text: value[0]?.toUpperCase() + value.slice(1),
              value,
            })),
          },
        },
        schema: { default_value: 'draft', is_nullable: false },
      }),
  },
  {
    name: 'sort',
    label: 'Sort',
    help: 'for manual sorting of items',
    field: (collection) =>
      newField({ collection, field: 'sort', type: 'integer', meta: { interface: 'input', hidden: true } }),
  },
  stamp('date_created', 'Created on', 'date-created'),
  stamp('date_updated', 'Updated on', 'date-updated'),
];

/** The metadata that refers to these fields. */
export const metaOf = (presets: ReadonlySet<string>) => ({
  ...(presets.has('status') && { archive_field: 'status', archive_value: 'archived', unarchive_value: 'draft' }),
  ...(presets.has('sort') && { sort_field: 'sort' }),
});
