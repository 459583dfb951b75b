import type { ReactNode } from 'react';
import { useForm, useWatch } from 'react-hook-form';
import { SimpleGrid } from '@mantine/core';
import type { ReferentialAction } from '../../schema/model/model.js';
import { useDraftedFields } from '../draft/use-drafted.js';
import { EditorForm } from './editor-frame.js';
import { freeName, namesFaults, NameInput, NameSelect, OnDelete, type RelationFormProps } from './relation-parts.js';
import { makeRelation } from './relations.js';
import { checkedBy } from './resolver.js';
import { type Edit, useKeep } from './use-keep.js';
import { KeyProblem, useKeyColumn } from './key-problem.js';

interface Values {
  other: string;
  field: string;
  otherField: string;
  junction: string;
  ownKey: string;
  otherKey: string;
  sort: string;
  onDelete: ReferentialAction;
}

const NEEDED = ['other', 'field', 'junction', 'ownKey', 'otherKey'];

/**
 * Names follow the other side until they are edited. Both sides need a single-column key and may be the same
 * collection.
 */
export function ManyToManyForm({ collection, names, chooser, onDone }: RelationFormProps & { chooser: ReactNode }) {
  const form = useForm<Values>({
    defaultValues: {
      other: '',
      field: '',
      otherField: '',
      junction: '',
      ownKey: `${collection}_id`,
      otherKey: '',
      sort: '',
      onDelete: 'CASCADE',
    },
    resolver: checkedBy({}, (values) => ({
      ...namesFaults(values as never, NEEDED),
      ...(names.taken.has(values.junction) && { junction: `Collection "${values.junction}" already exists.` }),
    })),
  });
  const other = useWatch({ control: form.control, name: 'other' });
  const [own, there] = [useKeyColumn(collection), useKeyColumn(other === '' ? null : other)];
  const { data: drafted = [] } = useDraftedFields(collection);
  const fields = new Set(drafted.map(({ document }) => document.field));
  const keeping = useKeep({ names: [collection, ...(other === '' ? [] : [other])] });
  const edit: Edit = (editor) => {
    if (own && there)
      makeRelation(editor, { kind: 'm2m', collection, ...form.getValues(), keys: { own, other: there } });
  };
  const keep = async (unchecked: boolean) => {
    if (own && there && (await keeping.keep(edit, { unchecked }))) onDone(form.getValues('field'));
  };
  const suggest = (chosen: string) => {
    const put = (name: 'field' | 'junction' | 'otherKey', value: string) => {
      if (!form.getFieldState(name).isDirty) form.setValue(name, value);
    };
    put('field', freeName(chosen, fields));
    put('junction', freeName(`${collection}_${chosen}`, names.taken));
    put('otherKey', chosen === collection ? `related_${chosen}_id` : `${chosen}_id`);
  };
  return (
    <EditorForm
      keeping={keeping}
      form={form}
      keep={keep}
      onCancel={() => onDone()}
      isReady={own !== undefined && (other === '' || there !== undefined)}
    >
      {chooser}
      <NameSelect name="other" label="Related collection" options={names.collections} onChoose={suggest} />
      <NameInput name="field" label="Field name" help="An alias field without a column" />
      <NameInput
        name="otherField"
        label="Reverse field"
        help="An alias field in the related collection. Leave empty for none."
      />
      <NameInput name="junction" label="Junction collection" help="A new hidden collection" />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <NameInput name="ownKey" label="Foreign key to this collection" />
        <NameInput name="otherKey" label="Foreign key to the related collection" />
      </SimpleGrid>
      <NameInput name="sort" label="Sort field" help="Leave empty for none." />
      <OnDelete label="When an item of either collection is deleted" />
      <KeyProblem collection={collection} />
      {other !== collection && <KeyProblem collection={other} />}
    </EditorForm>
  );
}
