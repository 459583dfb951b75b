import {
  SegmentedControl,
  CloseButton,
  Group,
  NativeSelect,
  Switch,
  Text,
  TextInput,
  ActionIcon,
  Menu,
} from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ComponentProps, lazy, type ReactNode, Suspense, useState, useDeferredValue, useMemo } from 'react';
import filterIcon from 'icon:filter_list';
import languageIcon from 'icon:translate';
import addIcon from 'icon:add';
import selectIcon from 'icon:checklist';
import type { ListedCollection } from '../../service/types.js';
import { infoQuery } from '../../service/queries.js';
import { useMay } from '../../service/session.js';
import { LoadingIndicator } from '../../shared/problem-alert.js';
import type { FrameMarks } from './replay/frame.js';
import type { Replay } from './replay/use-replay.js';
import type { SchemaSearch } from './search.js';
import classes from './page.module.css';
import { Glyph } from '../../shared/glyph.js';
import { SnapshotMenu } from '../../shared/snapshot/snapshot-menu.js';
import type { DropTarget } from '../../shared/drag-and-drop.js';
import { withToggled } from '../../shared/items.js';
import { Tree } from './tree.js';
import { languagesOf, nameIn, nameOf, namesOfGroups, rowsOf, treeOf } from './tree-model.js';
import { messages } from './messages.js';

/* Begins something new. */

/** @param props.group the selected collection */
function NewMenu({ group }: { group: string | undefined }) {
  const { data: info } = useQuery(infoQuery());
  return (
    <Menu position="bottom-end" width={240} shadow="md" withinPortal={false}>
      <Menu.Target>
        <ActionIcon size={36} variant="light" aria-label={messages.tree.create}>
          <Glyph path={addIcon} size={20} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component={Link} to="/new">
          {messages.tree.newCollection}
        </Menu.Item>
        <Menu.Item component={Link} to="/new" search={{ as: 'folder' } as never}>
          {messages.tree.newFolder}
        </Menu.Item>
        {group !== undefined && (
          <Menu.Item component={Link} to="/new" search={{ group } as never}>
            {messages.tree.newCollectionIn(group)}
          </Menu.Item>
        )}
        {info?.objects === true && (
          <Menu.Item component={Link} to="/objects" search={{ new: true } as never}>
            {messages.tree.newView}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

interface TreePanelProps {
  collections: readonly ListedCollection[];
  search: SchemaSearch;
  onChange: (changed: Partial<SchemaSearch>) => void;
  onChoose: (collection: string) => void;
  /** Opens the page of a collection. Undefined in the past. */
  onOpen?: ((collection: string) => void) | undefined;
  /** The changes to mark: those of the batch in the past, or those of the draft in the current schema. */
  marks?: Pick<FrameMarks, 'collections'> | undefined;
  /** Moves a collection. Undefined unless the user may change the schema. */
  onMove?: ((collection: string, target: DropTarget) => void) | undefined;
}

/** Shows the tree, or a message without rows. The filter and the expanded rows are not in the address. */
function TreePanel({ collections, search, onChange, onChoose, onOpen, marks, onMove }: TreePanelProps) {
  const [text, setText] = useState('');
  const filter = useDeferredValue(text.trim());
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [selected, setSelected] = useState<ReadonlySet<string> | null>(null);
  const roots = useMemo(() => treeOf(collections), [collections]);
  const languages = useMemo(() => languagesOf(collections), [collections]);
  const { hidden = false, lang } = search;
  const rows = useMemo(
    () => rowsOf(roots, { hidden, toggled, filter, nameOf: (each) => nameIn(lang, each) }),
    [roots, hidden, toggled, filter, lang],
  );
  const isEditable = (name: string): boolean => marks?.collections.get(name) !== 'removed';
  const selection = selected && {
    names: selected,
    onToggle: (name: string) => isEditable(name) && setSelected(withToggled(selected, name)),
  };
  const tables = collections.filter(({ schema }) => schema !== null).length;
  const hasHidden = collections.some(({ meta }) => meta.hidden);
  return (
    <section className={classes.panel} aria-label={messages.page.collections}>
      <div className={classes.tools}>
        <Group gap={6} wrap="nowrap">
          <Filter text={text} onChange={setText} />
          {onMove !== undefined && <NewMenu group={search.c} />}
          {onMove !== undefined && <SelectButton isSelecting={selected !== null} onChange={setSelected} />}
        </Group>
        <Languages languages={languages} lang={lang} onChange={onChange} />
        {selected !== null && (
          <SelectedCollections
            groups={namesOfGroups(roots, selected)}
            names={rows.map(nameOf).filter(isEditable)}
            selected={selected}
            onSelect={setSelected}
            onDone={() => setSelected(null)}
          />
        )}
      </div>
      {rows.length === 0 && (
        <Text size="sm" c="dimmed" px="md" py="xs">
          {describeEmpty(collections.length, filter)}
        </Text>
      )}
      <Tree
        rows={rows}
        chosen={search.c}
        marks={marks?.collections}
        nameOf={(each) => nameIn(lang, each)}
        onChoose={onChoose}
        onOpen={onOpen}
        onMove={onMove}
        selection={selection}
        onToggle={(name, open) => setToggled((before) => new Map(before).set(name, open))}
      />
      <div className={classes.count}>
        <Text size="xs" c="dimmed">
          {messages.tree.tables(tables)}
        </Text>
        <SnapshotMenu size="compact-sm" {...momentOf(search)} />
        {hasHidden && (
          <Switch
            size="xs"
            label={messages.tree.showHidden}
            checked={hidden}
            onChange={(event) => onChange({ hidden: event.currentTarget.checked || undefined })}
          />
        )}
      </div>
    </section>
  );
}

interface SelectButtonProps {
  isSelecting: boolean;
  onChange: (selected: ReadonlySet<string> | null) => void;
}

/** Begins or ends the selection of collections. */
function SelectButton({ isSelecting, onChange }: SelectButtonProps) {
  return (
    <ActionIcon
      size={36}
      variant={isSelecting ? 'filled' : 'light'}
      aria-label={messages.tree.editSeveral}
      aria-pressed={isSelecting}
      onClick={() => onChange(isSelecting ? null : new Set())}
    >
      <Glyph path={selectIcon} size={20} />
    </ActionIcon>
  );
}

const CollectionsEdit = lazy(async () => ({ default: (await import('../../editing/bulk-edit.js')).CollectionsEdit }));

const SelectedCollections = (props: ComponentProps<typeof CollectionsEdit>) => (
  <Suspense fallback={<LoadingIndicator label={messages.tree.loadingForm} height="200px" />}>
    <CollectionsEdit {...props} />
  </Suspense>
);

function Filter({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  return (
    <TextInput
      flex={1}
      aria-label={messages.tree.filterCollections}
      placeholder={messages.tree.filter}
      size="sm"
      value={text}
      onChange={(event) => onChange(event.currentTarget.value)}
      leftSection={<Glyph path={filterIcon} size={18} />}
      rightSection={
        text === '' ? undefined : (
          <CloseButton size="sm" aria-label={messages.tree.clear} onClick={() => onChange('')} />
        )
      }
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
      aria-label={messages.tree.nameLanguage}
      size="xs"
      leftSection={<Glyph path={languageIcon} size={16} />}
      data={[{ value: '', label: messages.tree.originalNames }, ...languages]}
      value={lang ?? ''}
      onChange={(event) => onChange({ lang: event.currentTarget.value || undefined })}
    />
  );
}

/** Returns the point in time of the download, which is that of the shown state. */
const momentOf = ({ at }: SchemaSearch): { at?: string } => (at === undefined ? {} : { at: String(at) });

function describeEmpty(collections: number, filter: string): string {
  if (collections === 0) return messages.tree.none;
  return filter === '' ? messages.tree.allHidden : messages.tree.noMatch;
}

const Diagram = lazy(() => import('./diagram/diagram.js'));
const route = getRouteApi('/');

interface SchemaPanelsProps {
  collections: readonly ListedCollection[];
  /** Present while the page shows an earlier point in time. */
  past?: { replay: Replay; marks: FrameMarks; bar: ReactNode };
  /** Additions to the tree. Present for the current schema. */
  tree?: DraftedTree;
}

type DraftedTree = Pick<TreePanelProps, 'collections' | 'marks' | 'onMove' | 'onOpen'>;

/**
 * Narrow screens show one of the two with a switch. Selecting a collection adds a history entry; other changes do
 * not.
 */
export function SchemaPanels({ collections, past, tree }: SchemaPanelsProps) {
  const mayGoBack = useMay('readHistory');

  const search = route.useSearch();
  const navigate = route.useNavigate();
  const isNarrow = useMediaQuery('(max-width: 48em)');
  const [part, setPart] = useState<string>(search.c === undefined ? 'tree' : 'diagram');
  // A selection adds a history entry; view options do not.
  const change = (changed: Partial<SchemaSearch>) =>
    void navigate({ search: (before: SchemaSearch) => ({ ...before, ...changed }), replace: !('c' in changed) });
  const choose = (c: string) => {
    change({ c });
    setPart('diagram');
  };
  const shows = (which: string): boolean => !isNarrow || part === which;
  return (
    <div className={classes.page} data-past={past !== undefined || undefined}>
      <h1 className={classes.title}>{messages.page.title}</h1>
      {isNarrow && (
        <SegmentedControl
          className={classes.parts}
          role="radiogroup"
          aria-label={messages.page.view}
          data={PARTS}
          value={part}
          onChange={setPart}
        />
      )}
      {shows('tree') && (
        <TreePanel
          collections={collections}
          search={search}
          onChange={change}
          onChoose={choose}
          marks={past?.marks}
          {...tree}
        />
      )}
      {shows('diagram') && (
        <Suspense fallback={<LoadingIndicator label={messages.page.loading} />}>
          <Diagram
            collections={collections}
            search={search}
            onChange={change}
            replay={past?.replay}
            mayGoBack={mayGoBack}
          />
        </Suspense>
      )}
      {past?.bar}
    </div>
  );
}

const PARTS = [
  { value: 'tree', label: messages.page.collections },
  { value: 'diagram', label: messages.page.diagram },
];
