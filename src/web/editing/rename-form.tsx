import { Text, TextInput } from '@mantine/core';
import { type FieldValues, useForm } from 'react-hook-form';
import { renameCollection, renameField } from '../draft/edits.js';
import { EditorForm } from './editor-frame.js';
import { nameFault } from './field-form.js';
import { checkedBy } from './resolver.js';
import { type Edit, useKeep } from './use-keep.js';

interface Props {
  collection: string;
  /** Null for the collection itself. */
  field: string | null;
  taken: readonly string[];
  onDone: (name: string) => void;
  onCancel: () => void;
}

/**
 * Keeping the old name changes nothing.
 * @param props.taken names that are rejected at once
 * @param props.onDone called with the new name
 */
export function RenameForm({ collection, field, taken, onDone, onCancel }: Props) {
  const from = field ?? collection;
  const form = useForm<FieldValues>({
    defaultValues: { to: from },
    resolver: checkedBy({}, ({ to }) => (to === from ? {} : nameFault(String(to), taken, 'to'))),
  });
  // Every objection of the service concerns the name.
  const keeping = useKeep({
    names: [collection],
    form,
    inputFor: ({ member }) => (member === 'collection' || member === 'field' || member === '' ? 'to' : null),
  });
  const edit: Edit = (editor) => {
    const to = String(form.getValues('to'));
    if (to === from) return;
    editor.change((draft) =>
      field === null ? renameCollection(draft, collection, to) : renameField(draft, collection, field, to),
    );
  };
  const keep = async (unchecked: boolean) => {
    if (await keeping.keep(edit, { unchecked })) onDone(String(form.getValues('to')));
  };
  const { error } = form.getFieldState('to', form.formState);
  return (
    <EditorForm keeping={keeping} form={form} keep={keep} onCancel={onCancel}>
      <TextInput
        label={`New name of ${from}`}
        data-autofocus
        autoComplete="off"
        spellCheck={false}
        error={error?.message}
        {...form.register('to')}
      />
      <Text size="sm" c="dimmed">
        The rows do not change. The service updates relations, groups and templates. Applications that use the old name
        stop working when you apply the change.
      </Text>
    </EditorForm>
  );
}
