import {
  SegmentedControl,
  Text,
  Title,
  Checkbox,
  Group,
  NativeSelect,
  SimpleGrid,
  Stack,
  TextInput,
} from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useDraftedCollections } from '../../draft/store.js';
import classes from '../../editing/editor-frame.module.css';
import { createResolver, FormName, type Edit, useKeep } from '../../editing/use-keep.js';
import { useMay } from '../../service/session.js';
import { QueryResult } from '../../shared/problem-alert.js';
import { Page, useTitle } from '../../shared/page.js';
import { type FieldValues, useController, useForm, useFormContext } from 'react-hook-form';
import { checksOf } from '../../../schema/normal-form/checks.js';
import {
  COLLECTION_META_DEFAULTS,
  type CollectionMeta,
  collectionMeta,
  type Field,
} from '../../../schema/model/model.js';
import { ALIAS_TYPE, FIELD_TYPES, UNKNOWN_TYPE } from '../../../schema/normal-form/types/field-types.js';
import { memberKey } from '../../draft/model.js';
import { interfaceOf, newCollection, newField, specialOf } from '../../editing/column-defaults.js';
import { EditorForm } from '../../editing/editor-frame.js';
import { nameFault } from '../../editing/field-form.js';
import { RowsInput } from '../../editing/inputs.js';
import { MemberInput, useChoices } from '../../editing/member-input.js';
import { FOLDER_SECTIONS, memberAt, typeOptions } from '../../editing/members.js';
import { NameInput } from '../../editing/relation-parts.js';
import { type KeyKind, primaryKey } from '../../editing/relations.js';

import { messages } from './messages.js';

const route = getRouteApi('/new');

const KINDS = [
  { value: 'collection', label: messages.create.collection },
  { value: 'folder', label: messages.create.folder },
];

/**
 * Creates a collection. Only admins and authors may use it. Other users see a message. It opens the new object, and
 * cancel returns to the schema.
 */
export function NewPage() {
  const { as, group = null } = route.useSearch();
  const replace = route.useNavigate();
  const navigate = useNavigate();
  const collections = useDraftedCollections();
  useTitle(messages.create.newCollection);
  if (!useMay('propose')) return <Text p="lg">{messages.create.forbidden}</Text>;
  return (
    <Page>
      <Title order={1} size="h3">
        {as === 'folder' ? messages.create.newFolder : messages.create.newCollection}
      </Title>
      <Text c="dimmed" size="sm" mt={4} mb="md">
        {as === 'folder' ? messages.create.folderHelp : messages.create.collectionHelp}
      </Text>
      <SegmentedControl
        role="radiogroup"
        aria-label={messages.create.kind}
        data={KINDS}
        value={as ?? 'collection'}
        onChange={(kind) =>
          void replace({
            search: { ...(kind === 'folder' && { as: kind }), ...(group !== null && { group }) },
            replace: true,
          })
        }
      />
      <div className={classes.page}>
        <QueryResult query={collections} label={messages.create.loading}>
          {(all) => (
            <FormName value={`new ${as ?? 'collection'}`}>
              <NewCollectionForm
                isFolder={as === 'folder'}
                group={group}
                taken={all.filter(({ mark }) => mark !== 'removed').map(({ document }) => document.collection)}
                onDone={(name) => void navigate({ to: '/collections/$name', params: { name } })}
                onCancel={() => void navigate({ to: '/' })}
              />
            </FormName>
          )}
        </QueryResult>
      </div>
    </Page>
  );
}

interface Preset {
  name: string;
  label: string;
  help: string;
  field: (collection: string) => Field;
}

const stamp = (words: Pick<Preset, 'name' | 'label' | 'help'>, special: string): Preset => ({
  ...words,
  field: (collection) =>
    newField({
      collection,
      field: words.name,
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

const PRESETS: readonly Preset[] = [
  {
    name: 'status',
    label: messages.create.status,
    help: messages.create.statusHelp,
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
    label: messages.create.sort,
    help: messages.create.sortHelp,
    field: (collection) =>
      newField({ collection, field: 'sort', type: 'integer', meta: { interface: 'input', hidden: true } }),
  },
  stamp(
    { name: 'date_created', label: messages.create.createdOn, help: messages.create.createdOnHelp },
    'date-created',
  ),
  stamp(
    { name: 'date_updated', label: messages.create.updatedOn, help: messages.create.updatedOnHelp },
    'date-updated',
  ),
];

/** Returns the metadata that refers to the selected common fields. */
const metaOf = (presets: ReadonlySet<string>) => ({
  ...(presets.has('status') && { archive_field: 'status', archive_value: 'archived', unarchive_value: 'draft' }),
  ...(presets.has('sort') && { sort_field: 'sort' }),
});

interface FieldRow {
  name: string;
  type: string;
}

const NO_FIELD: FieldRow = { name: '', type: 'string' };

const TYPE_OPTIONS = typeOptions(FIELD_TYPES.filter((type) => type !== UNKNOWN_TYPE && type !== ALIAS_TYPE));

interface Values {
  collection: string;
  key: string;
  keyKind: KeyKind;
  /** The last row is empty. */
  fields: FieldRow[];
  presets: string[];
  meta: CollectionMeta;
}

const KEYS = Object.entries(messages.create.keys).map(([value, label]) => ({ value, label }));

interface Props {
  isFolder: boolean;
  group: string | null;
  taken: readonly string[];
  onDone: (name: string) => void;
  onCancel: () => void;
}

const INPUTS = FOLDER_SECTIONS.flatMap(({ members }) => members);

/**
 * The form of a new collection. The common fields follow the key in the order in which they are offered.
 * @param props.group the parent folder. Null for none
 * @param props.taken names that are rejected immediately
 * @param props.onDone called with the name when the collection is in the draft
 */
function NewCollectionForm({ isFolder, group, taken, onDone, onCancel }: Props) {
  const form = useForm<FieldValues>({
    defaultValues: {
      collection: '',
      key: 'id',
      keyKind: 'bigInteger',
      fields: [NO_FIELD],
      presets: [],
      meta: { ...COLLECTION_META_DEFAULTS, group },
    },
    resolver: createResolver({ meta: checksOf(collectionMeta) }, (values) => ({
      ...nameFault(String(values['collection']), taken, 'collection'),
      ...(isFolder ? {} : fieldFaults(values as unknown as Values)),
    })),
  });
  const keeping = useKeep({ names: [], form, inputFor: (fault) => inputFor(fault, form.getValues() as Values) });
  const choices = useChoices(null);
  const edit: Edit = (editor) => {
    const { collection, key, keyKind, fields, presets, meta } = form.getValues() as Values;
    const chosen = new Set(isFolder ? [] : presets);
    editor.put('collections', newCollection(collection, isFolder, { ...meta, ...metaOf(chosen) }));
    if (isFolder) return;
    editor.put('fields', primaryKey(collection, keyKind, key));
    const wanted = [
      ...namedRows(fields).map(({ name, type }) =>
        newField({ collection, field: name, type, meta: { interface: interfaceOf(type), special: specialOf(type) } }),
      ),
      ...PRESETS.filter(({ name }) => chosen.has(name)).map(({ field }) => field(collection)),
    ];
    for (const [index, field] of wanted.entries())
      editor.put('fields', { ...field, meta: { ...field.meta, sort: index + 2 } });
  };
  const keep = async (unchecked: boolean) => {
    if (await keeping.keep(edit, { unchecked })) onDone((form.getValues() as Values).collection);
  };
  return (
    <EditorForm keeping={keeping} form={form} keep={keep} onCancel={onCancel}>
      <TextInput
        label={messages.create.name}
        description={isFolder ? messages.create.folderName : messages.create.collectionName}
        // The page has no purpose besides this form.
        autoFocus
        autoComplete="off"
        spellCheck={false}
        error={form.getFieldState('collection', form.formState).error?.message}
        {...form.register('collection')}
      />
      {!isFolder && <KeyPart />}
      <SimpleGrid cols={{ base: 1, xs: 2 }} style={{ alignItems: 'end' }}>
        <MemberInput member={memberAt('meta.icon', INPUTS)} choices={choices} />
        <MemberInput member={memberAt('meta.group', INPUTS)} choices={choices} />
      </SimpleGrid>
      <MemberInput member={memberAt('meta.note', INPUTS)} choices={choices} />
    </EditorForm>
  );
}

/** The inputs of the key and the common fields. */
function KeyPart() {
  const { control } = useFormContext();
  const { field: kind } = useController({ control, name: 'keyKind' });
  const { field: presets } = useController({ control, name: 'presets' });
  return (
    <>
      <div>
        <Text size="sm" fw={500} mb={4} id="key-kind">
          {messages.create.primaryKey}
        </Text>
        <SegmentedControl
          fullWidth
          role="radiogroup"
          aria-labelledby="key-kind"
          data={KEYS}
          value={kind.value as string}
          onChange={kind.onChange}
        />
        <Text size="xs" c="dimmed" mt={4}>
          {messages.create.keyHelp[kind.value as KeyKind]}
        </Text>
      </div>
      <NameInput name="key" label={messages.create.keyField} />
      <FieldsPart />
      <Checkbox.Group
        label={messages.create.commonFields}
        value={presets.value as string[]}
        onChange={presets.onChange}
      >
        <Stack gap={8} mt={6}>
          {PRESETS.map(({ name, label, help }) => (
            <Checkbox key={name} value={name} label={label} description={help} />
          ))}
        </Stack>
      </Checkbox.Group>
    </>
  );
}

const namedRows = (fields: readonly FieldRow[]): FieldRow[] =>
  fields.map(({ name, type }) => ({ name: name.trim(), type })).filter(({ name }) => name !== '');

/** The names and types of further fields. As soon as the last row has a name, an empty one follows. */
function FieldsPart() {
  const { field, fieldState } = useController({ name: 'fields' });
  const rows = field.value as FieldRow[];
  const change = (next: FieldRow[]) => field.onChange(next.at(-1)?.name === '' ? next : [...next, NO_FIELD]);
  return (
    <RowsInput<FieldRow>
      label={messages.create.fields}
      description={messages.create.fieldsHelp}
      error={fieldState.error?.message}
      rows={rows}
      onChange={change}
      inputOf={(row, index, changeRow) => (
        <Group gap="xs">
          <TextInput
            aria-label={messages.create.fieldName(index + 1)}
            placeholder={messages.create.fieldPlaceholder}
            flex="3 1 10rem"
            miw={0}
            autoComplete="off"
            spellCheck={false}
            value={row.name}
            onChange={(event) => changeRow({ ...row, name: event.currentTarget.value })}
          />
          <NativeSelect
            aria-label={messages.create.fieldType(index + 1)}
            flex="2 1 15rem"
            miw={0}
            data={TYPE_OPTIONS}
            value={row.type}
            onChange={(event) => changeRow({ ...row, type: event.currentTarget.value })}
          />
        </Group>
      )}
      isFixed={({ name }) => name === ''}
      added={null}
      addLabel=""
      removeLabelOf={({ name }) => messages.create.removeField(name)}
    />
  );
}

/** Returns the errors of the key and of the fields. Two fields cannot have the same name. */
function fieldFaults({ key, fields, presets }: Values): Record<string, string> {
  const taken = [key.trim(), ...presets];
  const faults = namedRows(fields).map(({ name }) => {
    const fault = nameFault(name, taken, 'fields');
    taken.push(name);
    return fault;
  });
  return Object.assign(nameFault(key, [], 'key'), ...faults) as Record<string, string>;
}

/** Returns the input that shows an error. Errors are about documents, whose names are separate inputs here. */
function inputFor(
  { part, key, member }: { part: string; key: string | null; member: string },
  values: Pick<Values, 'collection' | 'key'>,
): string | null {
  if (part === 'fields') return member === 'field' && key === memberKey(values.collection, values.key) ? 'key' : null;
  return member === '' ? 'collection' : member;
}
