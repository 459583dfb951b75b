import { Autocomplete, NativeSelect } from '@mantine/core';
import { useController, useWatch } from 'react-hook-form';
import type { ColumnSchema } from '../../schema/model/model.js';

const NOW = ['now()', 'CURRENT_TIMESTAMP'];

const CALLS: Readonly<Record<string, string[]>> = {
  uuid: ['gen_random_uuid()'],
  date: ['CURRENT_DATE', 'now()'],
  time: ['CURRENT_TIME'],
  dateTime: NOW,
  timestamp: NOW,
};

const NUMBERS = new Set(['integer', 'bigInteger', 'float', 'decimal']);

/** For the form of a field with a column. Empty means no default. Disabled for generated values. */
export function DefaultInput() {
  const type = useWatch({ name: 'type' }) as string;
  const column = useWatch({ name: 'schema' }) as ColumnSchema | null;
  const { field, fieldState } = useController({ name: 'schema.default_value' });
  const value: unknown = field.value;
  const isMade = column !== null && (column.has_auto_increment || column.generation_expression !== null);
  const common = {
    label: 'Default',
    error: fieldState.error?.message,
    disabled: isMade,
    onBlur: field.onBlur,
    ref: field.ref,
  };
  if (type === 'boolean') {
    return (
      <NativeSelect
        {...common}
        data={[{ value: '', label: 'none' }, 'true', 'false']}
        value={textOf(value)}
        onChange={({ currentTarget: { value: next } }) => field.onChange(next === '' ? null : next === 'true')}
      />
    );
  }
  return (
    <Autocomplete
      {...common}
      placeholder={isMade ? 'PostgreSQL generates the values' : 'none'}
      data={CALLS[type] ?? []}
      comboboxProps={{ withinPortal: false }}
      value={textOf(value)}
      onChange={(text) => field.onChange(valueOf(text, type))}
    />
  );
}

const textOf = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** Text that fits no type stays text, and the service's error explains it. */
function valueOf(text: string, type: string): unknown {
  if (text === '') return null;
  if (NUMBERS.has(type)) return String(Number(text)) === text ? Number(text) : text;
  if (type !== 'json') return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
