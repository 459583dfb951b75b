/** Many-to-one, or one-to-many as seen from the other side. */
import { Checkbox } from '@mantine/core';
import type { ReactNode } from 'react';
import { useForm, useFormContext, useWatch } from 'react-hook-form';
import type { ReferentialAction } from '../../schema/model/model.js';
import { EditorForm } from './editor-frame.js';
import { namesFaults, NameInput, NameSelect, OnDelete, type RelationFormProps } from './relation-parts.js';
import { makeRelation } from './relations.js';
import { checkedBy } from './resolver.js';
import { type Edit, useKeep } from './use-keep.js';
import { KeyProblem, useKeyColumn } from './key-problem.js';

interface Values {
  other: string;
  /** The field with the foreign key, on the many side. */
  field: string;
  alias: string;
  onDelete: ReferentialAction;
  required: boolean;
}

interface OneFormProps extends RelationFormProps {
  kind: 'm2o' | 'o2m';
  chooser: ReactNode;
}

const NEEDED = { m2o: ['other', 'field'], o2m: ['other', 'field', 'alias'] };

const NONE: Values = { other: '', field: '', alias: '', onDelete: 'SET NULL', required: false };

/**
 * Names follow the other side until they are edited. The one side needs a single-column key.
 * @param props.kind the side of this collection: `m2o` has the foreign key, `o2m` is referenced
 */
export function OneForm({ collection, names, kind, chooser, onDone }: OneFormProps) {
  const isHere = kind === 'm2o';
  const form = useForm<Values>({
    defaultValues: NONE,
    resolver: checkedBy({}, (values) => namesFaults(values as never, NEEDED[kind])),
  });
  const other = useWatch({ control: form.control, name: 'other' });
  const one = isHere ? other : collection;
  const many = isHere ? collection : other;
  const key = useKeyColumn(one === '' ? null : one);
  const keeping = useKeep({ names: [collection, other] });
  const edit: Edit = (editor) => {
    const { field, alias, onDelete, required } = form.getValues();
    if (key) makeRelation(editor, { kind, many, one, field, alias, onDelete, required, key });
  };
  const keep = async (unchecked: boolean) => {
    if (key && (await keeping.keep(edit, { unchecked }))) onDone(form.getValues(isHere ? 'field' : 'alias'));
  };
  const suggest = (chosen: string) => {
    const put = (name: 'field' | 'alias', value: string) => {
      if (!form.getFieldState(name).isDirty) form.setValue(name, value);
    };
    put('field', isHere ? chosen : collection);
    put('alias', isHere ? '' : chosen);
  };
  return (
    <EditorForm
      keeping={keeping}
      form={form}
      keep={keep}
      onCancel={() => onDone()}
      isReady={one === '' || key !== undefined}
    >
      {chooser}
      <Inputs isHere={isHere} one={one} other={other} options={names.collections} onChoose={suggest} />
      <KeyProblem collection={one} />
    </EditorForm>
  );
}

interface InputsProps {
  isHere: boolean;
  /** Empty until it is selected. */
  one: string;
  other: string;
  options: readonly string[];
  onChoose: (chosen: string) => void;
}

function Inputs({ isHere, one, other, options, onChoose }: InputsProps) {
  const { register } = useFormContext();
  const there = other === '' ? 'the related collection' : other;
  return (
    <>
      <NameSelect name="other" label={'Related collection'} options={options} onChoose={onChoose} />
      <NameInput
        name="field"
        label={isHere ? 'Field name' : `Foreign key field in ${there}`}
        help="An existing field is reused. Otherwise the service creates one with the type of the primary key."
      />
      <NameInput
        name="alias"
        label={isHere ? `Reverse field in ${there}` : 'Field name'}
        {...(isHere && { help: 'An alias field. Leave empty for none.' })}
      />
      <OnDelete label={`When an item of ${one === '' ? 'the related collection' : one} is deleted`} />
      <Checkbox label="Required" {...register('required')} />
    </>
  );
}
