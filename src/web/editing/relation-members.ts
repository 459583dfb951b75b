/** The members of a relation and of its foreign key. */
import { DEFERRABLES, REFERENTIAL_ACTIONS } from '../../schema/model/model.js';
import type { Member } from './members.js';

export const KEY_MEMBERS: readonly Member[] = [
  {
    path: 'schema.on_delete',
    label: 'On delete',
    kind: 'choice',
    options: REFERENTIAL_ACTIONS.map((value) => ({ value, label: value.toLowerCase() })),
  },
  {
    path: 'schema.on_update',
    label: 'On update',
    kind: 'choice',
    options: REFERENTIAL_ACTIONS.map((value) => ({ value, label: value.toLowerCase() })),
  },
  {
    path: 'schema.deferrable',
    label: 'Constraint check',
    kind: 'choice',
    options: [
      { value: '', label: 'immediate, not deferrable' },
      ...DEFERRABLES.map((value) => ({ value, label: `deferrable, ${value.toLowerCase()}` })),
    ],
  },
  { path: 'schema.constraint_name', label: 'Foreign key name', kind: 'text' },
];

export const RELATION_MEMBERS: readonly Member[] = [
  {
    path: 'one_deselect_action',
    label: 'When an item is deselected',
    kind: 'choice',
    options: [
      { value: 'nullify', label: 'Set the field to null' },
      { value: 'delete', label: 'Delete the item' },
    ],
  },
  { path: 'sort_field', label: 'Sort field', kind: 'field' },
];
