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
import { messages } from './messages.js';

const words = messages.relation;

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
      ...(values.allowed.length === 0 && { allowed: words.chooseCollection }),
      ...(names.taken.has(values.junction) && { junction: messages.common.collectionExists(values.junction) }),
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
      <NameInput name="field" label={words.fieldName} help={words.aliasHelp} />
      <NameInput name="junction" label={words.junction} help={words.junctionHelp} />
      <SimpleGrid cols={{ base: 1, xs: 2 }} style={{ alignItems: 'end' }}>
        <NameInput name="ownKey" label={words.ownKey} />
        <NameInput name="sort" label={words.sortField} />
        <NameInput name="item" label={words.itemField} />
        <NameInput name="itemCollection" label={words.collectionField} />
      </SimpleGrid>
      <OnDelete label={words.onDelete(collection)} />
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
    <Checkbox.Group label={words.relatedCollections} error={error} value={value} onChange={onChange}>
      {isLong && (
        <TextInput
          mt={6}
          size="xs"
          aria-label={words.searchRelated}
          placeholder={words.searchCollections(names.length.toLocaleString(locale))}
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
          {words.more((fitting.length - MOST_SHOWN).toLocaleString(locale))}
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
        {one === null ? words.referencesSeveral(`${many}.${field}`) : words.references(`${many}.${field}`, one)}
      </Text>
      <Members members={members} choices={choices} />
      {one !== null && (
        <Checkbox
          label={words.enforce}
          description={words.enforceHelp}
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
      ...(names.taken.has(values.junction) && { junction: messages.common.collectionExists(values.junction) }),
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
      <NameSelect name="other" label={words.related} options={names.collections} onChoose={suggest} />
      <NameInput name="field" label={words.fieldName} help={words.aliasHelp} />
      <NameInput name="otherField" label={words.reverseField} help={words.reverseFieldHelp} />
      <NameInput name="junction" label={words.junction} help={words.junctionHelp} />
      <SimpleGrid cols={{ base: 1, xs: 2 }} style={{ alignItems: 'end' }}>
        <NameInput name="ownKey" label={words.ownKey} />
        <NameInput name="otherKey" label={words.otherKey} />
      </SimpleGrid>
      <NameInput name="sort" label={words.sortField} help={words.optional} />
      <OnDelete label={words.onDeleteEither} />
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
  return (
    <>
      <NameSelect name="other" label={words.related} options={options} onChoose={onChoose} />
      <NameInput
        name="field"
        label={isHere ? words.fieldName : other === '' ? words.keyFieldInRelated : words.keyFieldIn(other)}
        help={words.keyFieldHelp}
      />
      <NameInput
        name="alias"
        label={!isHere ? words.fieldName : other === '' ? words.reverseFieldInRelated : words.reverseFieldIn(other)}
        {...(isHere && { help: words.optionalAliasHelp })}
      />
      <OnDelete label={one === '' ? words.onDeleteRelated : words.onDelete(one)} />
      <Checkbox label={messages.common.required} {...register('required')} />
    </>
  );
}
