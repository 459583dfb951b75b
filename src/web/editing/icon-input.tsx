import searchIcon from 'icon:search';
import { Autocomplete, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { MaterialIcon } from '../shared/material-icon.js';
import type { InputProps } from './input-props.js';

/** Maximum number of icons shown at once, because each is a separate file. */
const MOST = 24;

/** Accepts unknown names too. Empty means null. The list of names is loaded with the first such input. */
export function IconInput({ member, value, onChange, onBlur, ref, error }: InputProps) {
  const name = typeof value === 'string' ? value : '';
  const { data: names = '' } = useQuery({
    queryKey: ['icon names'],
    queryFn: async () => (await import('icon-names')).default,
    staleTime: Infinity,
  });
  return (
    <Autocomplete
      ref={ref}
      label={member.label}
      description="Name of a Material Symbol: article, shopping_cart, person …"
      error={error}
      onBlur={onBlur}
      leftSection={<MaterialIcon name={name === '' ? null : name} otherwise={searchIcon} />}
      data={namesFor(names, name)}
      filter={({ options }) => options}
      comboboxProps={{ withinPortal: false }}
      maxDropdownHeight={260}
      renderOption={({ option }) => (
        <Group gap="sm" wrap="nowrap">
          <MaterialIcon name={option.value} otherwise={searchIcon} size={22} />
          <Text size="sm">{option.value}</Text>
        </Group>
      )}
      value={name}
      onChange={(next) => onChange(next === '' ? null : next)}
    />
  );
}

/** Names with the prefix first. */
function namesFor(names: string, typed: string): string[] {
  const wanted = typed
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
  const all = names.split(' ');
  const holding = wanted === '' ? COMMON : all.filter((name) => name.includes(wanted));
  const rank = (name: string) => (name === wanted ? 0 : name.startsWith(wanted) ? 1 : 2);
  return [...holding].sort((one, other) => rank(one) - rank(other)).slice(0, MOST);
}

const COMMON = [
  'article',
  'person',
  'group',
  'shopping_cart',
  'inventory_2',
  'event',
  'image',
  'folder',
  'label',
  'mail',
  'home',
  'settings',
  'payments',
  'chat',
  'map',
  'category',
  'star',
  'public',
  'local_shipping',
  'school',
];
