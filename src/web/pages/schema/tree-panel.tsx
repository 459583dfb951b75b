import filterIcon from 'icon:filter_list';
import languageIcon from 'icon:translate';
import { CloseButton, Group, NativeSelect, Switch, Text, TextInput } from '@mantine/core';
import { useDeferredValue, useMemo, useState } from 'react';
import type { ListedCollection } from '../../service/types.js';
import { Glyph } from '../../shared/glyph.js';
import { SnapshotMenu } from '../../shared/snapshot/snapshot-menu.js';
import type { Marks } from './film/marks.js';
import { NewMenu } from './new-menu.js';
import type { SchemaSearch } from './search.js';
import { Tree } from './tree.js';
import { type TreeRow, languagesOf, nameIn, rowsOf, treeOf } from './tree-model.js';
import classes from './page.module.css';

export interface TreePanelProps {
  collections: readonly ListedCollection[];
  search: SchemaSearch;
  onChange: (changed: Partial<SchemaSearch>) => void;
  onChoose: (collection: string) => void;
  /** Changes of the batch in the past, or of the draft in the present. */
  marks?: Pick<Marks, 'collections'> | undefined;
  /** Set if the user may change the schema. */
  onMove?: ((row: TreeRow, by: -1 | 1) => void) | undefined;
}

/** The filter and expanded rows are not in the address. Shows a message without rows. */
export function TreePanel({ collections, search, onChange, onChoose, marks, onMove }: TreePanelProps) {
  const [text, setText] = useState('');
  const filter = useDeferredValue(text.trim());
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  const roots = useMemo(() => treeOf(collections), [collections]);
  const languages = useMemo(() => languagesOf(collections), [collections]);
  const { hidden = false, lang } = search;
  const rows = useMemo(
    () => rowsOf(roots, { hidden, toggled, filter, nameOf: (each) => nameIn(lang, each) }),
    [roots, hidden, toggled, filter, lang],
  );
  const tables = collections.filter(({ schema }) => schema !== null).length;
  const hasHidden = collections.some(({ meta }) => meta.hidden);
  return (
    <section className={classes.panel} aria-label="Collections">
      <div className={classes.tools}>
        <Group gap={6} wrap="nowrap">
          <Filter text={text} onChange={setText} />
          {onMove !== undefined && <NewMenu group={search.c} />}
        </Group>
        <Languages languages={languages} lang={lang} onChange={onChange} />
      </div>
      {rows.length === 0 && (
        <Text size="sm" c="dimmed" px="md" py="xs">
          {nothing(collections.length, filter)}
        </Text>
      )}
      <Tree
        rows={rows}
        chosen={search.c}
        marks={marks?.collections}
        nameOf={(each) => nameIn(lang, each)}
        onChoose={onChoose}
        onMove={onMove}
        onToggle={(name, open) => setToggled((before) => new Map(before).set(name, open))}
      />
      <div className={classes.count}>
        <Text size="xs" c="dimmed">
          {tables.toLocaleString()} {tables === 1 ? 'table' : 'tables'}
        </Text>
        <SnapshotMenu size="compact-sm" {...momentOf(search)} />
        {hasHidden && (
          <Switch
            size="xs"
            label="Show hidden"
            checked={hidden}
            onChange={(event) => onChange({ hidden: event.currentTarget.checked || undefined })}
          />
        )}
      </div>
    </section>
  );
}

function Filter({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  return (
    <TextInput
      flex={1}
      aria-label="Filter collections"
      placeholder="Filter"
      size="sm"
      value={text}
      onChange={(event) => onChange(event.currentTarget.value)}
      leftSection={<Glyph path={filterIcon} size={18} />}
      rightSection={text === '' ? undefined : <CloseButton size="sm" aria-label="Clear" onClick={() => onChange('')} />}
    />
  );
}

interface LanguagesProps extends Pick<TreePanelProps, 'onChange'> {
  languages: readonly string[];
  lang: string | undefined;
}

function Languages({ languages, lang, onChange }: LanguagesProps) {
  if (languages.length === 0) return null;
  return (
    <NativeSelect
      aria-label="Name language"
      size="xs"
      leftSection={<Glyph path={languageIcon} size={16} />}
      data={[{ value: '', label: 'Original names' }, ...languages]}
      value={lang ?? ''}
      onChange={(event) => onChange({ lang: event.currentTarget.value || undefined })}
    />
  );
}

/** The download matches the shown state. */
const momentOf = ({ at }: SchemaSearch): { at?: string } => (at === undefined ? {} : { at: String(at) });

function nothing(collections: number, filter: string): string {
  if (collections === 0) return 'No collections.';
  return filter === '' ? 'All collections are hidden.' : 'No matching collections.';
}
