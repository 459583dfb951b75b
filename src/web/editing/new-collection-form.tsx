import { Checkbox, SegmentedControl, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { type FieldValues, useController, useForm, useFormContext } from 'react-hook-form';
import { COLLECTION_META_DEFAULTS, COLLECTION_META_TABLE } from '../../schema/normal-form/collection-meta.js';
import type { CollectionMeta } from '../../schema/model/model.js';
import { newCollection } from './column-defaults.js';
import { EditorForm } from './editor-frame.js';
import { nameFault } from './field-form.js';
import { MemberInput } from './member-input.js';
import { PRESETS, metaOf } from './presets.js';
import { NameInput } from './relation-parts.js';
import { type KeyKind, primaryKey } from './relations.js';
import { checkedBy } from './resolver.js';
import { useChoices } from './use-choices.js';
import { type Edit, useKeep } from './use-keep.js';

interface Values {
  collection: string;
  key: string;
  keyKind: KeyKind;
  presets: string[];
  meta: CollectionMeta;
}

const KEYS = [
  { value: 'integer', label: 'Number' },
  { value: 'bigInteger', label: 'Big number' },
  { value: 'uuid', label: 'UUID' },
  { value: 'string', label: 'Text' },
];

const KEY_HELP: Readonly<Record<KeyKind, string>> = {
  integer: 'Counts up by itself, to 2,147,483,647',
  bigInteger: 'Counts up by itself, for as long as you live',
  uuid: 'Random, made by the database',
  string: 'Given with each item: a code, a slug',
};

interface Props {
  isFolder: boolean;
  group: string | null;
  taken: readonly string[];
  onDone: (name: string) => void;
  onCancel: () => void;
}

/**
 * Common fields are placed after the key in the offered order.
 * @param props.group the parent folder; null for none
 * @param props.taken names that are rejected at once
 * @param props.onDone called with its name when it is in the draft
 */
export function NewCollectionForm({ isFolder, group, taken, onDone, onCancel }: Props) {
  const form = useForm<FieldValues>({
    defaultValues: {
      collection: '',
      key: 'id',
      keyKind: 'integer',
      presets: [],
      meta: { ...COLLECTION_META_DEFAULTS, group },
    },
    resolver: checkedBy({ meta: COLLECTION_META_TABLE }, ({ collection, key }) => ({
      ...nameFault(String(collection), taken, 'collection'),
      ...(isFolder ? {} : nameFault(String(key), [], 'key')),
    })),
  });
  const keeping = useKeep({ names: [], form, inputFor: ({ part, member }) => inputFor(part, member) });
  const choices = useChoices(null);
  const edit: Edit = (editor) => {
    const { collection, key, keyKind, presets, meta } = form.getValues() as Values;
    const chosen = new Set(isFolder ? [] : presets);
    editor.put('collections', newCollection(collection, isFolder, { ...meta, ...metaOf(chosen) }));
    if (isFolder) return;
    editor.put('fields', primaryKey(collection, keyKind, key));
    const wanted = PRESETS.filter(({ name }) => chosen.has(name)).map(({ field }) => field(collection));
    for (const [index, field] of wanted.entries())
      editor.put('fields', { ...field, meta: { ...field.meta, sort: index + 2 } });
  };
  const keep = async (unchecked: boolean) => {
    if (await keeping.keep(edit, { unchecked })) onDone((form.getValues() as Values).collection);
  };
  return (
    <EditorForm keeping={keeping} form={form} keep={keep} onCancel={onCancel}>
      <TextInput
        label="Name"
        description={isFolder ? 'Of the folder' : 'Of the collection, and of its table'}
        // The page has no other purpose.
        autoFocus
        autoComplete="off"
        spellCheck={false}
        error={form.getFieldState('collection', form.formState).error?.message}
        {...form.register('collection')}
      />
      {!isFolder && <KeyPart />}
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <MemberInput member={{ path: 'meta.icon', label: 'Icon', kind: 'icon' }} choices={choices} />
        <MemberInput member={{ path: 'meta.group', label: 'Inside of', kind: 'collection' }} choices={choices} />
      </SimpleGrid>
      <MemberInput member={{ path: 'meta.note', label: 'Note', kind: 'area' }} choices={choices} />
    </EditorForm>
  );
}

/** The key and the common fields. */
function KeyPart() {
  const { control } = useFormContext();
  const { field: kind } = useController({ control, name: 'keyKind' });
  const { field: presets } = useController({ control, name: 'presets' });
  return (
    <>
      <div>
        <Text size="sm" fw={500} mb={4} id="key-kind">
          Primary key
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
          {KEY_HELP[kind.value as KeyKind]}
        </Text>
      </div>
      <NameInput name="key" label="Name of the key" />
      <Checkbox.Group label="Fields that many have" value={presets.value as string[]} onChange={presets.onChange}>
        <Stack gap={8} mt={6}>
          {PRESETS.map(({ name, label, help }) => (
            <Checkbox key={name} value={name} label={label} description={help} />
          ))}
        </Stack>
      </Checkbox.Group>
    </>
  );
}

/** Errors concern documents; here their names are separate inputs. */
function inputFor(part: string, member: string): string | null {
  if (part === 'fields') return member === 'field' ? 'key' : null;
  return member === '' ? 'collection' : member;
}
