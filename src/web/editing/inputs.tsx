/* Inputs that several forms use. */
import addIcon from 'icon:add';
import removeIcon from 'icon:delete';
import { ActionIcon, Autocomplete, Button, Group, Input, Stack, TextInput } from '@mantine/core';
import { type ReactNode, type Ref, useMemo, useState } from 'react';
import { Glyph } from '../shared/glyph.js';
import { locale } from '../shared/language.js';
import { messages } from './messages.js';

/* The input of a list whose rows consist of texts, such as translations and choices. */

/** The input of one member of a row. */
interface Cell<Row> {
  member: keyof Row;
  value: string;
  label: string;
  placeholder?: string;
  /** Pixels. By default, the input takes the rest of the row. */
  width?: number;
}

interface RowsInputProps<Row> {
  label: string;
  error?: ReactNode;
  rows: readonly Row[];
  onChange: (rows: Row[]) => void;
  cellsOf: (row: Row, index: number) => readonly Cell<Row>[];
  /** The row that the button adds. */
  added: Row;
  addLabel: string;
  removeLabelOf: (row: Row, index: number) => string;
}

export function RowsInput<Row extends object>(props: RowsInputProps<Row>) {
  const { label, error, rows, onChange, cellsOf, added, addLabel, removeLabelOf } = props;
  const change = (index: number, member: keyof Row, text: string) =>
    onChange(rows.map((row, at) => (at === index ? { ...row, [member]: text } : row)));
  return (
    <Input.Wrapper label={label} error={error} labelElement="div">
      <Stack gap="xs" mt={4} role="group" aria-label={label}>
        {rows.map((row, index) => (
          // While rows are typed, they have no name that could be used as the key.
          // oxlint-disable-next-line react/no-array-index-key
          <Group key={index} gap="xs" wrap="nowrap">
            {cellsOf(row, index).map(({ member, value, label: name, placeholder, width }) => (
              <TextInput
                key={String(member)}
                aria-label={name}
                {...(placeholder !== undefined && { placeholder })}
                {...(width === undefined ? { flex: 1, miw: 0 } : { w: width })}
                value={value}
                onChange={(event) => change(index, member, event.currentTarget.value)}
              />
            ))}
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={removeLabelOf(row, index)}
              onClick={() => onChange(rows.filter((_, at) => at !== index))}
            >
              <Glyph path={removeIcon} size={18} />
            </ActionIcon>
          </Group>
        ))}
        <Button
          variant="default"
          size="xs"
          w="fit-content"
          leftSection={<Glyph path={addIcon} size={16} />}
          onClick={() => onChange([...rows, added])}
        >
          {addLabel}
        </Button>
      </Stack>
    </Input.Wrapper>
  );
}

/* The input of a name from a long list. */

/** Maximum number of names in a list. If there are more, the user searches instead. */
export const MOST_LISTED = 12;
const MOST_FOUND = 50;

interface NameSearchProps {
  label: string;
  description?: ReactNode;
  error?: ReactNode;
  names: readonly string[];
  value: string;
  /** Called with the name. Empty while the input is not a complete name. */
  onChange: (name: string) => void;
  onBlur: () => void;
  ref: Ref<HTMLInputElement>;
}

/** Shows at most fifty matches, or a message if there are none. */
export function NameSearch({ names, value, onChange, error, ...input }: NameSearchProps) {
  const [text, setText] = useState(value);
  const nameSet = useMemo(() => new Set(names), [names]);
  const isNothing = useMemo(() => {
    const needle = text.trim().toLowerCase();
    return needle !== '' && !names.some((name) => name.toLowerCase().includes(needle));
  }, [names, text]);
  return (
    <Autocomplete
      {...input}
      error={error ?? (isNothing ? messages.inputs.noResults : undefined)}
      data={[...names]}
      limit={MOST_FOUND}
      placeholder={messages.inputs.searchNames(names.length.toLocaleString(locale))}
      value={text}
      onChange={(typed) => {
        setText(typed);
        onChange(nameSet.has(typed) ? typed : '');
      }}
      comboboxProps={{ withinPortal: false }}
    />
  );
}
