/** A field, new or as it is: its type and column, how it is shown, its rules. */
import { Accordion, TextInput } from '@mantine/core';
import { useState } from 'react';
import { type FieldValues, useForm } from 'react-hook-form';
import type { Field } from '../../schema/model/model.js';
import { FIELD_META_TABLE } from '../../schema/normal-form/field-meta.js';
import { settledFlags } from './column-defaults.js';
import { ColumnPart } from './column-part.js';
import { EditorForm } from './editor-frame.js';
import { FIELD_SECTIONS } from './members.js';
import { checkedBy } from './resolver.js';
import { Sections } from './sections.js';
import { useChoices } from './use-choices.js';
import { type Edit, useKeep } from './use-keep.js';

interface Props {
  document: Field;
  isNew: boolean;
  /** Names in use. */
  taken: readonly string[];
  onDone: (field: string) => void;
  onCancel: () => void;
}

/**
 * @param props.document for a new field its defaults, without a name
 * @param props.onDone called with the field's name when it is in the draft
 */
export function FieldForm({ document, isNew, taken, onDone, onCancel }: Props) {
  const { collection } = document;
  const form = useForm<FieldValues>({
    defaultValues: structuredClone(document),
    resolver: checkedBy({ meta: FIELD_META_TABLE }, ({ field }) => (isNew ? nameFault(String(field), taken) : {})),
  });
  const keeping = useKeep({ names: [collection], form });
  const choices = useChoices(collection);
  const [open, setOpen] = useState<string[]>(['Column']);
  const edit: Edit = (editor) => {
    const given = form.getValues() as Field;
    const now = isNew ? given : (editor.field(collection, document.field) ?? given);
    editor.put('fields', {
      ...now,
      type: given.type,
      meta: given.meta,
      schema: given.schema && settledFlags({ ...given.schema, comment: given.schema.comment || null }),
    });
  };
  const keep = async (unchecked: boolean) => {
    if (await keeping.keep(edit, { unchecked })) onDone((form.getValues() as Field).field);
  };
  const { error } = form.getFieldState('field', form.formState);
  return (
    <EditorForm keeping={keeping} form={form} keep={keep} onCancel={onCancel}>
      {isNew && (
        <TextInput
          label="Name"
          description="Name of the field and of its column"
          data-autofocus
          autoComplete="off"
          spellCheck={false}
          error={error?.message}
          {...form.register('field')}
        />
      )}
      <Sections sections={FIELD_SECTIONS} choices={choices} open={open} onOpen={setOpen}>
        <Accordion.Item value="Column">
          <Accordion.Control>Type and column</Accordion.Control>
          <Accordion.Panel>
            <ColumnPart before={isNew ? null : document} choices={choices} />
          </Accordion.Panel>
        </Accordion.Item>
      </Sections>
    </EditorForm>
  );
}

/**
 * @param member the input that shows the error
 * @returns empty if the name is set and free
 */
export function nameFault(name: string, taken: readonly string[], member = 'field'): Record<string, string> {
  if (name.trim() === '') return { [member]: 'Enter a name.' };
  return taken.includes(name) ? { [member]: `Field ${JSON.stringify(name)} already exists.` } : {};
}
