import { Checkbox, Text } from '@mantine/core';
import { type FieldValues, useForm, useWatch } from 'react-hook-form';
import { type ForeignKey, type NewRelation, DEFERRABLES, REFERENTIAL_ACTIONS } from '../../schema/model/model.js';
import { ENDS } from '../../schema/normal-form/relation-members.js';
import { EditorForm } from './editor-frame.js';
import type { Member } from './members.js';
import { checkedBy } from './resolver.js';
import { Members } from './sections.js';
import { useChoices } from './use-choices.js';
import { type Edit, useKeep } from './use-keep.js';

/* The members of a relation and of its foreign key. */

const KEY_MEMBERS: readonly Member[] = [
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

const RELATION_MEMBERS: readonly Member[] = [
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

/**
 * Its ends are fixed. A foreign key that is removed and added again keeps its former properties.
 * @param props.onDone called when it is in the draft, or cancelled
 */
export function RelationEditForm({ document, onDone }: { document: NewRelation; onDone: () => void }) {
  const { many_collection: many, many_field: field, one_collection: one } = document;
  const form = useForm<FieldValues>({
    defaultValues: structuredClone(document),
    resolver: checkedBy({ '': ENDS }),
  });
  const keeping = useKeep({ names: [many], form });
  const choices = useChoices(many);
  const key = useWatch({ control: form.control, name: 'schema' }) as ForeignKey | null;
  const edit: Edit = (editor) => {
    const given = form.getValues() as NewRelation;
    const now = editor.relation(many, field) ?? document;
    editor.put('relations', { ...now, ...given, schema: given.schema && withoutNothing(given.schema) });
  };
  const keep = async (unchecked: boolean) => (await keeping.keep(edit, { unchecked })) && onDone();
  const members: readonly Member[] = one === null ? [...RELATION_MEMBERS, ALLOWED] : RELATION_MEMBERS;
  return (
    <EditorForm keeping={keeping} form={form} keep={keep} onCancel={onDone}>
      <Text size="sm" c="dimmed">
        {many}.{field} references {one ?? 'one of several collections'}.
      </Text>
      <Members members={members} choices={choices} />
      {one !== null && (
        <Checkbox
          label="Enforce with a foreign key"
          description="PostgreSQL rejects values without a matching item"
          checked={key !== null}
          onChange={(event) =>
            form.setValue('schema', event.currentTarget.checked ? (document.schema ?? NEW_KEY) : null)
          }
        />
      )}
      {key !== null && <Members members={KEY_MEMBERS} choices={choices} />}
    </EditorForm>
  );
}

const NEW_KEY = { on_update: 'NO ACTION', on_delete: 'NO ACTION' };

const ALLOWED: Member = { path: 'one_allowed_collections', label: 'Related collections', kind: 'words' };

/** The service names new keys, and omits `deferrable` for others. */
function withoutNothing({ constraint_name: name, deferrable, ...key }: ForeignKey): ForeignKey {
  return { ...key, ...(name && { constraint_name: name }), ...(deferrable && { deferrable }) } as ForeignKey;
}
