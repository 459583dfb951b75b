/* Inputs that several forms use. */
import addIcon from 'icon:add';
import downIcon from 'icon:arrow_downward';
import removeIcon from 'icon:delete';
import upIcon from 'icon:arrow_upward';
import { ActionIcon, Autocomplete, Box, Button, Group, Input, Stack, TextInput } from '@mantine/core';
import { type ReactNode, type Ref, useMemo, useRef, useState } from 'react';
import { Glyph } from '../shared/glyph.js';
import { locale } from '../shared/language.js';
import classes from './editor-frame.module.css';
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
  isReadOnly?: boolean;
}

interface RowsInputProps<Row> {
  label: string;
  description?: ReactNode;
  error?: ReactNode;
  rows: readonly Row[];
  onChange: (rows: Row[]) => void;
  cellsOf?: (row: Row, index: number) => readonly Cell<Row>[];
  /** Renders the inputs of a row instead of `cellsOf`. */
  inputOf?: (row: Row, index: number, change: (row: Row) => void) => ReactNode;
  /** True if the row can be neither moved nor removed. */
  isFixed?: (row: Row) => boolean;
  /** The row that the button adds. Null without a button. */
  added: Row | null;
  addLabel: string;
  removeLabelOf: (row: Row, index: number) => string;
  /** The labels of the buttons that move a row. Without labels, there are no such buttons. */
  moveLabelsOf?: (row: Row, index: number) => { up: string; down: string };
}

export function RowsInput<Row extends object>(props: RowsInputProps<Row>) {
  const { label, description, error, rows, onChange, added, addLabel } = props;
  const list = useRef<HTMLDivElement>(null);
  const move = (from: number, to: number) => {
    const next = [...rows];
    const [moved] = next.splice(from, 1);
    if (moved === undefined || to < 0 || to > next.length) return;
    next.splice(to, 0, moved);
    onChange(next);
    // The focus follows the row, so that the next key press moves the same row. Its buttons may not be rendered yet.
    const button = `[data-row="${to}"] [data-move=${to < from ? 'up' : 'down'}]`;
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>(button)?.focus());
  };
  return (
    <Input.Wrapper label={label} description={description} error={error} labelElement="div">
      <Stack gap="xs" mt={4} role="group" aria-label={label} ref={list}>
        {rows.map((row, index) => (
          // While rows are typed, they have no name that could be used as the key.
          // oxlint-disable-next-line react/no-array-index-key
          <Group key={index} gap="xs" wrap="nowrap" align="flex-start" data-row={index}>
            <RowInputs {...props} row={row} index={index} />
            <RowButtons {...props} row={row} index={index} move={move} />
          </Group>
        ))}
        {added !== null && (
          <Button
            variant="default"
            size="xs"
            w="fit-content"
            leftSection={<Glyph path={addIcon} size={16} />}
            onClick={() => onChange([...rows, added])}
          >
            {addLabel}
          </Button>
        )}
      </Stack>
    </Input.Wrapper>
  );
}

type RowProps<Row> = RowsInputProps<Row> & { row: Row; index: number };

function RowInputs<Row extends object>({ rows, onChange, cellsOf, inputOf, row, index }: RowProps<Row>) {
  const change = (changed: Row) => onChange(rows.map((each, at) => (at === index ? changed : each)));
  if (inputOf !== undefined) return <Box className={classes.grow}>{inputOf(row, index, change)}</Box>;
  return cellsOf?.(row, index).map(({ member, value, label, placeholder, width, isReadOnly = false }) => (
    <TextInput
      key={String(member)}
      aria-label={label}
      {...(placeholder !== undefined && { placeholder })}
      {...(width === undefined ? { flex: 1, miw: 0 } : { w: width })}
      value={value}
      readOnly={isReadOnly}
      {...(isReadOnly && { variant: 'filled' })}
      onChange={(event) => change({ ...row, [member]: event.currentTarget.value })}
    />
  ));
}

/** Pixels of a button and of the gap before it. */
const BUTTON = 28;
const GAP = 10;

function RowButtons<Row extends object>(props: RowProps<Row> & { move: (from: number, to: number) => void }) {
  const { rows, onChange, isFixed, removeLabelOf, moveLabelsOf, row, index, move } = props;
  const labels = moveLabelsOf?.(row, index);
  // Fixed rows leave the space empty, so that the inputs of all rows have the same width.
  if (isFixed?.(row) === true) return <Box flex="none" w={labels === undefined ? BUTTON : 3 * BUTTON + 2 * GAP} />;
  const common = { variant: 'subtle', color: 'gray', mt: 4 } as const;
  return (
    <>
      {labels !== undefined && (
        <>
          <ActionIcon
            {...common}
            aria-label={labels.up}
            data-move="up"
            aria-disabled={index === 0 || undefined}
            onClick={() => move(index, index - 1)}
          >
            <Glyph path={upIcon} size={18} />
          </ActionIcon>
          <ActionIcon
            {...common}
            aria-label={labels.down}
            data-move="down"
            aria-disabled={index === rows.length - 1 || undefined}
            onClick={() => move(index, index + 1)}
          >
            <Glyph path={downIcon} size={18} />
          </ActionIcon>
        </>
      )}
      <ActionIcon
        {...common}
        aria-label={removeLabelOf(row, index)}
        onClick={() => onChange(rows.filter((_, at) => at !== index))}
      >
        <Glyph path={removeIcon} size={18} />
      </ActionIcon>
    </>
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
