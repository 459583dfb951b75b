/* The forms of relations: many-to-one, one-to-many, many-to-many and many-to-any. */
import { Checkbox, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useForm, useFormContext, useWatch, Controller, type FieldValues } from 'react-hook-form';
import {
  type ReferentialAction,
  type ForeignKey,
  type NewRelation,
  FOREIGN_KEY_DEFAULTS,
  relationMembers,
} from '../../schema/model/model.js';
import { EditorForm } from './editor-frame.js';
import {
  namesFaults,
  NameInput,
  NameSelect,
  OnDelete,
  type RelationFormProps,
  KeyProblem,
  useKeyColumn,
  freeName,
} from './relation-parts.js';
import { makeRelation } from './relations.js';
import { createResolver, type Edit, useKeep } from './use-keep.js';
import classes from './editor-frame.module.css';
import { checksOf } from '../../schema/normal-form/checks.js';
import { useChoices } from './member-input.js';
import { FOREIGN_KEY_MEMBERS, memberAt, RELATION_MEMBERS } from './members.js';
import { Members } from './sections.js';
import { useDraftedFields } from '../draft/store.js';
import { locale } from '../shared/language.js';

/* Many-to-any: a junction whose rows contain the key and the collection of an item. */

/* Many-to-one, or one-to-many if the user begins on the other side. */

interface Values {
  field: string;
  allowed: string[];
  junction: string;
  ownKey: string;
  item: string;
  itemCollection: string;
  sort: string;
  onDelete: ReferentialAction;
}

const NEEDED = ['field', 'junction', 'ownKey', 'item', 'itemCollection'];

/** Needs a single-column key in this collection. Without one, it shows the reason and cannot be submitted. */
export function ManyToAnyForm({ collection, names, chooser, onDone }: RelationFormProps & { chooser: ReactNode }) {
  const form = useForm<Values>({
    defaultValues: {
      field: 'items',
      allowed: [],
      junction: freeName(`${collection}_items`, names.taken),
      ownKey: `${collection}_id`,
      item: 'item',
      itemCollection: 'collection',
      sort: 'sort',
      onDelete: 'CASCADE',
    },
    resolver: createResolver({}, (values) => ({
      ...namesFaults(values as never, NEEDED),
      ...(values.allowed.length === 0 && { allowed: 'Choose at least one collection.' }),
      ...(names.taken.has(values.junction) && { junction: `Collection "${values.junction}" already exists.` }),
    })),
  });
  const own = useKeyColumn(collection);
  const keeping = useKeep({ names: [collection] });
  const edit: Edit = (editor) => {
    if (own) makeRelation(editor, { kind: 'm2a', collection, ...form.getValues(), keys: { own } });
  };
  const keep = async (unchecked: boolean) => {
    if (own && (await keeping.keep(edit, { unchecked }))) onDone(form.getValues('field'));
  };
  return (
    <EditorForm keeping={keeping} form={form} keep={keep} onCancel={() => onDone()} isReady={own !== undefined}>
      {chooser}
      <Controller
        control={form.control}
        name="allowed"
        render={({ field, fieldState }) => (
          <Allowed
            names={names.collections}
            value={field.value}
            error={fieldState.error?.message}
            onChange={field.onChange}
          />
        )}
      />
      <NameInput name="field" label="Field name" help="An alias field without a column" />
      <NameInput name="junction" label="Junction collection" help="A new hidden collection" />
      <SimpleGrid cols={{ base: 1, xs: 2 }} style={{ alignItems: 'end' }}>
        <NameInput name="ownKey" label="Foreign key to this collection" />
        <NameInput name="sort" label="Sort field" />
        <NameInput name="item" label="Item field" />
        <NameInput name="itemCollection" label="Collection field" />
      </SimpleGrid>
      <OnDelete label={`When an item of ${collection} is deleted`} />
      <KeyProblem collection={collection} />
    </EditorForm>
  );
}

/** Maximum number of options that are shown. The user finds others by searching. */
const MOST_SHOWN = 50;

interface AllowedProps {
  names: readonly string[];
  value: string[];
  error: string | undefined;
  onChange: (names: string[]) => void;
}

function Allowed({ names, value, error, onChange }: AllowedProps) {
  const [filter, setFilter] = useState('');
  const isLong = names.length > MOST_SHOWN;
  const fitting = names.filter((name) => name.includes(filter.trim()));
  // Selected names stay visible.
  const shown = [...new Set([...value, ...fitting.slice(0, MOST_SHOWN)])];
  return (
    <Checkbox.Group label="Related collections" error={error} value={value} onChange={onChange}>
      {isLong && (
        <TextInput
          mt={6}
          size="xs"
          aria-label="Search related collections"
          placeholder={`Search ${names.length.toLocaleString(locale)} collections`}
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
        />
      )}
      <Stack gap={6} mt={6} className={classes.list ?? ''}>
        {shown.map((name) => (
          <Checkbox key={name} value={name} label={name} />
        ))}
      </Stack>
      {fitting.length > MOST_SHOWN && (
        <Text size="xs" c="dimmed" mt={4}>
          and {(fitting.length - MOST_SHOWN).toLocaleString(locale)} more
        </Text>
      )}
    </Checkbox.Group>
  );
}

/* The members of a relation and of its foreign key. */

const ALLOWED = memberAt('one_allowed_collections', RELATION_MEMBERS);
const WITHOUT_ALLOWED = RELATION_MEMBERS.filter((member) => member !== ALLOWED);

/**
 * The form of an existing relation. Its ends cannot be changed. A foreign key that is removed and added again keeps its
 * former properties.
 * @param props.onDone called when the edit is in the draft or cancelled
 */
export function RelationEditForm({ document, onDone }: { document: NewRelation; onDone: () => void }) {
  const { many_collection: many, many_field: field, one_collection: one } = document;
  const form = useForm<FieldValues>({
    defaultValues: structuredClone(document),
    resolver: createResolver({ '': checksOf(relationMembers) }),
  });
  const keeping = useKeep({ names: [many], form });
  const choices = useChoices(many);
  const key = useWatch({ control: form.control, name: 'schema' }) as ForeignKey | null;
  const edit: Edit = (editor) => {
    const values = form.getValues() as NewRelation;
    const now = editor.relation(many, field) ?? document;
    editor.put('relations', { ...now, ...values, schema: values.schema && withoutNothing(values.schema) });
  };
  const keep = async (unchecked: boolean) => (await keeping.keep(edit, { unchecked })) && onDone();
  const members = one === null ? RELATION_MEMBERS : WITHOUT_ALLOWED;
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
            form.setValue('schema', event.currentTarget.checked ? (document.schema ?? FOREIGN_KEY_DEFAULTS) : null)
          }
        />
      )}
      {key !== null && <Members members={FOREIGN_KEY_MEMBERS} choices={choices} />}
    </EditorForm>
  );
}

/**
 * Removes members without a value. The service chooses the name of a new key, and keys that are not deferrable have no
 * `deferrable`.
 */
function withoutNothing({ constraint_name: name, deferrable, ...key }: ForeignKey): ForeignKey {
  return { ...key, ...(name && { constraint_name: name }), ...(deferrable && { deferrable }) } as ForeignKey;
}

interface ManyToManyFormValues {
  other: string;
  field: string;
  otherField: string;
  junction: string;
  ownKey: string;
  otherKey: string;
  sort: string;
  onDelete: ReferentialAction;
}

const MANY_TO_MANY_NEEDED = ['other', 'field', 'junction', 'ownKey', 'otherKey'];

/**
 * Suggested names change with the other side until the user edits them. Both sides need a single-column key and may be
 * the same collection.
 */
export function ManyToManyForm({ collection, names, chooser, onDone }: RelationFormProps & { chooser: ReactNode }) {
  const form = useForm<ManyToManyFormValues>({
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
    resolver: createResolver({}, (values) => ({
      ...namesFaults(values as never, MANY_TO_MANY_NEEDED),
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
      <SimpleGrid cols={{ base: 1, xs: 2 }} style={{ alignItems: 'end' }}>
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

interface OneFormValues {
  other: string;
  /** The field with the foreign key, on the many side. */
  field: string;
  alias: string;
  onDelete: ReferentialAction;
  required: boolean;
}

interface SingleRelationFormProps extends RelationFormProps {
  kind: 'm2o' | 'o2m';
  chooser: ReactNode;
}

const ONE_NEEDED = { m2o: ['other', 'field'], o2m: ['other', 'field', 'alias'] };

const NONE: OneFormValues = { other: '', field: '', alias: '', onDelete: 'SET NULL', required: false };

/**
 * Suggested names change with the other side until the user edits them. The one side needs a single-column key.
 * @param props.kind the side of this collection: `m2o` has the foreign key, `o2m` is referenced
 */
export function SingleRelationForm({ collection, names, kind, chooser, onDone }: SingleRelationFormProps) {
  const isHere = kind === 'm2o';
  const form = useForm<OneFormValues>({
    defaultValues: NONE,
    resolver: createResolver({}, (values) => namesFaults(values as never, ONE_NEEDED[kind])),
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
  /** The collection on the one side. Empty until it is selected. */
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
