/* Changes the same members of several fields or collections in the draft. */
import { Button, Group, NativeSelect, SimpleGrid, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Collection, Field } from '../../schema/model/model.js';
import type { DraftEditor } from '../draft/editor.js';
import { editSchema } from '../draft/store.js';
import { SteadyButton } from '../shared/buttons.js';
import classes from './editor-frame.module.css';
import {
  COLLECTION_SECTIONS,
  FIELD_SECTIONS,
  FOLDER_SECTIONS,
  memberText,
  type Member,
  type Section,
} from './members.js';
import { messages } from './messages.js';
import { locale } from '../shared/language.js';

const words = messages.bulk;

/** The members with few values: the same value is useful for several objects. */
const membersOf = (sections: readonly Section[]): readonly Member[] =>
  sections.flatMap(({ members }) => members.filter(({ kind }) => kind === 'flag' || kind === 'choice'));

type Value = string | boolean | null;

/** The new values by the path of their members: `meta.hidden`. */
type Values = ReadonlyMap<string, Value>;

/** Returns the document with the values, or undefined if it has them already. */
function withValues<D extends Collection | Field>(document: D, values: Values): D | undefined {
  const meta: Record<string, unknown> = { ...document.meta };
  for (const [path, value] of values) meta[path.replace('meta.', '')] = value;
  const isSame = Object.entries(document.meta).every(([name, value]) => meta[name] === value);
  return isSame ? undefined : { ...document, meta: meta as D['meta'] };
}

export interface BulkEditProps {
  /** The names that can be selected. */
  names: readonly string[];
  selected: ReadonlySet<string>;
  onSelect: (selected: ReadonlySet<string>) => void;
  onDone: () => void;
}

const FIELD_MEMBERS = membersOf(FIELD_SECTIONS);

/** Changes several fields of a collection. */
export function FieldsEdit({ collection, ...props }: BulkEditProps & { collection: string }) {
  const edit = (editor: DraftEditor, values: Values): void => {
    for (const field of editor.fields(collection).filter((each) => props.selected.has(each.field))) {
      const changed = withValues(field, values);
      if (changed !== undefined) editor.put('fields', changed);
    }
  };
  return <BulkEdit kind="fields" members={FIELD_MEMBERS} source={[collection]} edit={edit} {...props} />;
}

const COLLECTION_MEMBERS = membersOf(COLLECTION_SECTIONS);
const GROUP = 'meta.group';
const FOLDER_PATHS = new Set([GROUP, ...membersOf(FOLDER_SECTIONS).map(({ path }) => path)]);

/**
 * Changes several collections and folders. Folders have fewer members than collections.
 * @param props.groups the names of the collections that can contain the selected ones
 */
export function CollectionsEdit({ groups, ...props }: BulkEditProps & { groups: readonly string[] }) {
  const edit = (editor: DraftEditor, values: Values): void => {
    // The selection may have changed since the group was chosen.
    const possible = [...values].filter(
      ([path, value]) => path !== GROUP || value === null || groups.includes(String(value)),
    );
    const ofTable = new Map(possible);
    const ofFolder = new Map(possible.filter(([path]) => FOLDER_PATHS.has(path)));
    for (const name of props.selected) {
      const collection = editor.collection(name);
      const changed = collection && withValues(collection, collection.schema === null ? ofFolder : ofTable);
      if (changed !== undefined) editor.put('collections', changed);
    }
  };
  const options = [{ value: '', label: words.none }, ...groups.map((name) => ({ value: name, label: name }))];
  const group: Member = { path: GROUP, label: memberText('Parent group'), kind: 'choice', options };
  return <BulkEdit kind="collections" members={[group, ...COLLECTION_MEMBERS]} source={[]} edit={edit} {...props} />;
}

interface Props extends BulkEditProps {
  kind: 'fields' | 'collections';
  members: readonly Member[];
  /** The collections whose fields the edit needs. */
  source: readonly string[];
  edit: (editor: DraftEditor, values: Values) => void;
}

function BulkEdit({ kind, members, source, edit, names, selected, onSelect, onDone }: Props) {
  const client = useQueryClient();
  const [values, setValues] = useState<Values>(new Map());
  const save = async () => {
    await editSchema(client, source, (editor) => edit(editor, values));
    onDone();
  };
  const set = (path: string, value: Value | undefined) => {
    const next = new Map(values);
    if (value === undefined) next.delete(path);
    else next.set(path, value);
    setValues(next);
  };
  const areAll = names.every((name) => selected.has(name));
  return (
    <section className={classes.bulk} aria-label={words[kind].label}>
      <Group gap="xs" mb="xs" justify="space-between">
        <Text size="sm" role="status">
          {selected.size === 0 ? words[kind].select : words[kind].selected(selected.size)}
        </Text>
        <Button size="compact-xs" variant="subtle" onClick={() => onSelect(new Set(areAll ? [] : names))}>
          {areAll ? words.selectNone : words.selectAll(names.length.toLocaleString(locale))}
        </Button>
      </Group>
      <SimpleGrid
        type="container"
        cols={{ base: 2, '420px': 3, '640px': 4 }}
        spacing="sm"
        className={classes.choices ?? ''}
      >
        {members.map((member) => (
          <MemberSelect
            key={member.path}
            member={member}
            value={values.get(member.path)}
            onChange={(value) => set(member.path, value)}
          />
        ))}
      </SimpleGrid>
      <Group gap="xs" mt="sm">
        <SteadyButton size="xs" disabled={selected.size === 0 || values.size === 0} onClick={() => void save()}>
          {messages.common.saveToDraft}
        </SteadyButton>
        <Button size="xs" variant="default" onClick={onDone}>
          {messages.common.cancel}
        </Button>
      </Group>
    </section>
  );
}

const FLAGS = [
  { value: 'true', label: words.yes },
  { value: 'false', label: words.no },
];

/** Begins the value of each option, because an empty value means null, and no option means no change. */
const CHANGE = '=';

interface MemberSelectProps {
  member: Member;
  value: Value | undefined;
  onChange: (value: Value | undefined) => void;
}

function MemberSelect({ member: { label, kind, options = [] }, value, onChange }: MemberSelectProps) {
  const isFlag = kind === 'flag';
  const choices = (isFlag ? FLAGS : options).map((each) =>
    typeof each === 'string' ? { value: CHANGE + each, label: each } : { ...each, value: CHANGE + each.value },
  );
  const read = (option: string): Value | undefined => {
    if (option === '') return undefined;
    const text = option.slice(CHANGE.length);
    return isFlag ? text === 'true' : text === '' ? null : text;
  };
  return (
    <NativeSelect
      size="xs"
      label={label}
      data={[{ value: '', label: words.unchanged }, ...choices]}
      value={value === undefined ? '' : CHANGE + String(value ?? '')}
      onChange={({ currentTarget }) => onChange(read(currentTarget.value))}
    />
  );
}
