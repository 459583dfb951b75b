import { Button, Group, NativeSelect, SimpleGrid, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { FieldMeta } from '../../../schema/model/model.js';
import type { DraftEditor } from '../../draft/editor.js';
import { editSchema } from '../../draft/store.js';
import { FIELD_SECTIONS, type Member } from '../../editing/members.js';
import { SteadyButton } from '../../shared/buttons.js';
import { counted } from '../../shared/text.js';
import classes from './page.module.css';

/** The members with few values: the same value is useful for several fields. */
const MEMBERS: readonly Member[] = FIELD_SECTIONS.flatMap(({ members }) =>
  members.filter(({ kind }) => kind === 'flag' || kind === 'choice'),
);

type Value = string | boolean;

/** Sets the chosen members of the selected fields. `values` is by path: `meta.hidden`. */
function setMembers(
  editor: DraftEditor,
  collection: string,
  { selected, values }: { selected: ReadonlySet<string>; values: ReadonlyMap<string, Value> },
): void {
  const changed = Object.fromEntries([...values].map(([path, value]) => [path.replace('meta.', ''), value]));
  for (const field of editor.fields(collection).filter((each) => selected.has(each.field)))
    editor.put('fields', { ...field, meta: { ...field.meta, ...(changed as Partial<FieldMeta>) } });
}

interface BulkEditProps {
  collection: string;
  selected: ReadonlySet<string>;
  onDone: () => void;
}

/** Changes several fields of a collection in the draft. */
export function BulkEdit({ collection, selected, onDone }: BulkEditProps) {
  const client = useQueryClient();
  const [values, setValues] = useState<ReadonlyMap<string, Value>>(new Map());
  const save = async () => {
    await editSchema(client, [collection], (editor) => setMembers(editor, collection, { selected, values }));
    onDone();
  };
  const set = (path: string, value: Value | undefined) => {
    const next = new Map(values);
    if (value === undefined) next.delete(path);
    else next.set(path, value);
    setValues(next);
  };
  return (
    <section className={classes.bulk} aria-label="Edit several fields">
      <Text size="sm" mb="xs" role="status">
        {selected.size === 0 ? 'Select the fields to edit.' : `${counted(selected.size, 'field')} selected.`}
      </Text>
      <SimpleGrid cols={{ base: 2, xs: 3, sm: 4 }} spacing="sm">
        {MEMBERS.map((member) => (
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
          Save to draft
        </SteadyButton>
        <Button size="xs" variant="default" onClick={onDone}>
          Cancel
        </Button>
      </Group>
    </section>
  );
}

const FLAGS = [
  { value: 'true', label: 'Yes' },
  { value: 'false', label: 'No' },
];

interface MemberSelectProps {
  member: Member;
  value: Value | undefined;
  onChange: (value: Value | undefined) => void;
}

function MemberSelect({ member: { label, kind, options = [] }, value, onChange }: MemberSelectProps) {
  const isFlag = kind === 'flag';
  return (
    <NativeSelect
      size="xs"
      label={label}
      data={[{ value: '', label: 'Do not change' }, ...(isFlag ? FLAGS : options)]}
      value={value === undefined ? '' : String(value)}
      onChange={({ currentTarget: { value: next } }) =>
        onChange(next === '' ? undefined : isFlag ? next === 'true' : next)
      }
    />
  );
}
