import { Autocomplete } from '@mantine/core';
import { type ReactNode, type Ref, useMemo, useState } from 'react';
import { locale } from '../shared/language.js';

/** Maximum number of names in a list. If there are more, the user searches instead. */
export const MOST_LISTED = 12;
const MOST_FOUND = 50;

interface Props {
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
export function NameSearch({ names, value, onChange, error, ...input }: Props) {
  const [text, setText] = useState(value);
  const nameSet = useMemo(() => new Set(names), [names]);
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
      placeholder={`Search ${names.length.toLocaleString(locale)} names`}
      value={text}
      onChange={(typed) => {
        setText(typed);
        onChange(nameSet.has(typed) ? typed : '');
      }}
      comboboxProps={{ withinPortal: false }}
    />
  );
}
