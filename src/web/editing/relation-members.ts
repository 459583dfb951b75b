/** The members of a relation and of its foreign key. */
import { DEFERRABLES, REFERENTIAL_ACTIONS } from '../../schema/model/model.js';
import type { Member } from './members.js';

export const KEY_MEMBERS: readonly Member[] = [
  {
    path: 'schema.on_delete',
    label: 'When what it leads to is deleted',
    kind: 'choice',
    options: REFERENTIAL_ACTIONS.map((value) => ({ value, label: value.toLowerCase() })),
  },
  {
    path: 'schema.on_update',
    label: 'When its key changes',
    kind: 'choice',
    options: REFERENTIAL_ACTIONS.map((value) => ({ value, label: value.toLowerCase() })),
  },
  {
    path: 'schema.deferrable',
    label: 'Checked',
    kind: 'choice',
    options: [
      { value: '', label: 'at once' },
      ...DEFERRABLES.map((value) => ({ value, label: `deferrable, ${value.toLowerCase()}` })),
    ],
  },
  { path: 'schema.constraint_name', label: 'Name of the foreign key', kind: 'text' },
];

export const RELATION_MEMBERS: readonly Member[] = [
  {
    path: 'one_deselect_action',
    label: 'When an item is taken out there',
    kind: 'choice',
    options: [
      { value: 'nullify', label: 'it leads nowhere' },
      { value: 'delete', label: 'it is deleted' },
    ],
  },
  { path: 'sort_field', label: 'Sorted by hand with', kind: 'field' },
];
