import { Autocomplete } from '@mantine/core';
import { type ReactNode, type Ref, useMemo, useState } from 'react';

/** Beyond this number, names are searched instead of listed. */
export const MOST_LISTED = 500;
const MOST_FOUND = 50;

interface Props {
  label: string;
  description?: ReactNode;
  error?: ReactNode;
  names: readonly string[];
  value: string;
  /** Empty while the input is no name yet. */
  onChange: (name: string) => void;
  onBlur: () => void;
  ref: Ref<HTMLInputElement>;
}

/** Shows a message without matches, and at most fifty matches. */
export function NameSearch({ names, value, onChange, error, ...input }: Props) {
  const [text, setText] = useState(value);
  const known = useMemo(() => new Set(names), [names]);
  const isNothing = useMemo(() => {
    const needle = text.trim().toLowerCase();
    return needle !== '' && !names.some((name) => name.toLowerCase().includes(needle));
  }, [names, text]);
  return (
    <Autocomplete
      {...input}
      error={error ?? (isNothing ? 'No results.' : undefined)}
      data={[...names]}
      limit={MOST_FOUND}
      placeholder={`Search ${names.length.toLocaleString()} names`}
      value={text}
      onChange={(typed) => {
        setText(typed);
        onChange(known.has(typed) ? typed : '');
      }}
      comboboxProps={{ withinPortal: false }}
    />
  );
}
