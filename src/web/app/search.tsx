import actionIcon from 'icon:edit_note';
import fieldIcon from 'icon:view_column';
import historyIcon from 'icon:history';
import pageIcon from 'icon:arrow_forward';
import guideIcon from 'icon:menu_book';
import searchIcon from 'icon:search';
import tableIcon from 'icon:table';
import { useMantineColorScheme } from '@mantine/core';
import { Spotlight, createSpotlight, type SpotlightStore } from '@mantine/spotlight';
import { useNavigate, useParams, type NavigateOptions } from '@tanstack/react-router';
import {
  useCallback,
  useRef,
  useState,
  useDeferredValue,
  useMemo,
  type KeyboardEvent as ReactKeyboardEvent,
  type RefObject,
  useEffect,
  useLayoutEffect,
} from 'react';
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { Heading } from 'docs:headings';
import { Glyph, MaterialIcon } from '../shared/glyph.js';
import { withDraft } from '../draft/marked-documents.js';
import { useDraft } from '../draft/store.js';
import { collectionsQuery, fieldNamesQuery, infoQuery } from '../service/queries.js';
import { hasAbility, type ListedCollection, type FieldDocument } from '../service/types.js';
import { requestAnswer } from '../service/request.js';
import { saveAnswer } from '../shared/save.js';
import { signOut, useMay, useRole, useSession } from '../service/session.js';
import { ACTIONS, PAGES, PARTS, isOffered, type PageEntry, Shortcuts, startTour } from './navigation.js';
import { abbreviate } from '../shared/text.js';
import type { EditName } from '../editing/edit-names.js';
import { visibleName } from '../shared/name.js';
import { messages } from './messages.js';

/* Handles the keyboard in the search. Keys that the user presses before it is ready are not lost. */

interface Options {
  store: SpotlightStore;
  input: RefObject<HTMLInputElement | null>;
  found: readonly SearchHit[];
  /** True if no pending result can precede the first one for this input. */
  isFinal: boolean;
  setQuery: (change: (query: string) => string) => void;
  choose: (found: SearchHit) => void;
}

/** @returns a key handler, which runs before that of the component */
function useSearchKeys({ store, input, found, isFinal, setQuery, choose }: Options) {
  /** True if Enter was pressed before there were results. */
  const [isPressed, setPressed] = useState(false);

  const type = useCallback(
    (change: (query: string) => string) => {
      setPressed(false);
      setQuery(change);
    },
    [setQuery],
  );

  // Each search begins empty, even while the previous one closes.
  useEffect(() => {
    let wasOpen = false;
    return store.subscribe(({ opened }) => {
      if (opened && !wasOpen) type(() => '');
      // Closing cancels a pending Enter.
      if (!opened) setPressed(false);
      wasOpen = opened;
    });
  }, [store, type]);

  // The input receives the focus a few frames after the request.
  useEffect(() => {
    const hear = (event: KeyboardEvent): void => {
      if (!store.getState().opened || isForOthers(event, input.current)) return;
      const change = typedBy(event.key);
      if (event.key === 'Enter') setPressed(true);
      else if (change !== null) type(change);
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', hear, true);
    return () => document.removeEventListener('keydown', hear, true);
  }, [store, input, type]);

  // The component marks a result of the previous input.
  const keys = found.map(({ key }) => key).join('\n');
  useLayoutEffect(() => {
    for (const marked of document.querySelectorAll('[data-action][data-selected]')) marked.removeAttribute(MARK);
    document.querySelector('[data-action]')?.setAttribute(MARK, 'true');
    store.updateState((state) => ({ ...state, selected: 0 }));
  }, [keys, store]);

  const isReady = isPressed && isFinal;
  useEffect(() => {
    if (!isReady) return;
    setPressed(false);
    const [first] = found;
    if (first !== undefined) choose(first);
  }, [isReady, found, choose]);

  const onKeyDownCapture = (event: ReactKeyboardEvent) => {
    if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
    event.preventDefault();
    event.stopPropagation();
    const marked = found[Math.max(0, store.getState().selected)];
    if (!isFinal) setPressed(true);
    else if (marked !== undefined) choose(marked);
  };
  return { onKeyDownCapture, type };
}

const MARK = 'data-selected';

/** True for keys that the input handles itself, for repeated keys, and for shortcuts of the browser. */
const isForOthers = (
  { ctrlKey, metaKey, altKey, isComposing, repeat }: KeyboardEvent,
  input: Element | null,
): boolean => document.activeElement === input || ctrlKey || metaKey || altKey || isComposing || repeat;

function typedBy(key: string): ((query: string) => string) | null {
  if (key === 'Backspace') return (query) => query.slice(0, -1);
  return Array.from(key).length === 1 ? (query) => query + key : null;
}

const MOST = 30;

/** @param needle the input. If empty, the result is the pages and the first collections */
function findFor(needle: string, searched: SearchIndex): SearchHit[] {
  const { pages, parts, commands, headings, collections, fields, mayEdit } = searched;
  const wanted = needle.toLowerCase();
  const ranked = [
    ...(mayEdit && wanted !== '' ? actionsFor(wanted, searched) : []),
    ...best(pages, wanted, ({ label }) => label).map(pageHit),
    ...(wanted === '' ? [] : best(parts, wanted, ({ label }) => label).map(partHit)),
    ...best(collections, wanted, ({ collection }) => collection).map(collectionHit),
    ...(wanted === '' ? [] : best(commands, wanted, ({ label }) => label).map(commandHit)),
    ...(wanted === '' ? [] : best(fields, wanted, (field) => nameFor(wanted, field)).map(fieldHit)),
    ...(wanted === '' ? [] : best(headings, wanted, ({ text }) => text).map(headingHit)),
  ];
  return [...ranked.slice(0, MOST), ...(searched.mayReadHistory && wanted !== '' ? [historyHit(needle)] : [])];
}

/** The result that opens the history search. It also finds actors and reasons, which the search itself does not. */
const historyHit = (needle: string): SearchHit => ({
  kind: 'history',
  key: 'history',
  label: messages.search.history(needle),
  description: messages.search.historyHelp,
  icon: null,
  to: { to: '/timeline', search: { q: needle.slice(0, LONGEST) } },
});

/** Maximum length of a search in the timeline. */
const LONGEST = 200;

/** Returns the text in which a field is searched. An input such as `orders.total` is searched in both names. */
const nameFor = (text: string, { collection, field }: SearchIndex['fields'][number]): string =>
  text.includes('.') ? `${collection}.${field}` : field;

const pageHit = ({ to, label, search }: PageEntry): SearchHit => ({
  kind: 'page',
  key: `page ${to} ${label}`,
  label,
  description: search === undefined ? messages.search.page : messages.search.action,
  icon: null,
  to: { to, ...(search && { search }) },
});

const commandHit = ({ label, run }: Command): SearchHit => ({
  kind: 'command',
  key: `command ${label}`,
  label,
  description: messages.search.command,
  icon: null,
  run,
});

const partHit = ({ to, label, of }: SearchIndex['parts'][number]): SearchHit => ({
  kind: 'page',
  key: `part ${to}`,
  label,
  description: of,
  icon: null,
  to: { to: to as '/' },
});

const headingHit = ({ page, title, text, anchor }: Heading): SearchHit => ({
  kind: 'guide',
  key: `guide ${page} ${anchor}`,
  label: text,
  description: title === text ? messages.search.guide : messages.search.guideIn(title),
  icon: null,
  to: { to: '/docs/$page', params: { page }, hash: anchor },
});

const collectionHit = ({ collection, meta, schema }: ListedCollection): SearchHit => ({
  kind: 'collection',
  key: `collection ${collection}`,
  label: collection,
  description: meta.note === null ? messages.search[schema === null ? 'folder' : 'collection'] : abbreviate(meta.note),
  icon: meta.icon,
  to: { to: '/collections/$name', params: { name: collection } },
});

const fieldHit = ({ collection, field, type }: SearchIndex['fields'][number]): SearchHit => ({
  kind: 'field',
  key: `field ${collection} ${field}`,
  label: `${collection}.${field}`,
  description: type,
  icon: null,
  to: { to: '/collections/$name', params: { name: collection }, search: { field } },
});

/* Search results from loaded data and from data requested on the first search. */

/** Loaded on the first search. */
const headingsQuery = queryOptions({
  queryKey: ['headings'],
  staleTime: Infinity,
  queryFn: async () => (await import('docs:headings')).default,
});

interface Finding {
  found: readonly SearchHit[];
  /** True while results for field names are not available yet. */
  isReading: boolean;
  /** True if no pending result can precede the first one for this input. */
  isFinal: boolean;
}

/**
 * @param isAsked true once the search was opened
 * @param commands must be the same array until the commands change
 */
function useSearchHits(query: string, isAsked: boolean, commands: readonly Command[]): Finding {
  const typed = query.trim();
  const needle = useDeferredValue(typed);
  const role = useRole();
  const { name: here } = useParams({ strict: false });
  const { draft } = useDraft();
  const { data: info } = useQuery(infoQuery());
  const listed = useQuery({ ...collectionsQuery(), enabled: isAsked });
  const names = useQuery({ ...fieldNamesQuery(), enabled: isAsked && needle !== '' });
  const guides = useQuery({ ...headingsQuery, enabled: isAsked });
  const collections = useMemo(() => withDraft(draft, listed.data ?? []), [draft, listed.data]);
  const { data: fields } = names;
  const { data: headings } = guides;
  const hits = useMemo(() => {
    const pages = [...PAGES, ...ACTIONS].filter((entry) => isOffered(entry, role, info));
    const parts = PARTS.filter(({ roles }) => roles.includes(role));
    const own = {
      fields: fields ?? [],
      headings: headings ?? [],
      mayEdit: hasAbility(role, 'propose'),
      mayReadHistory: hasAbility(role, 'readHistory'),
      here,
    };
    return findFor(needle, { pages, parts, commands, collections, ...own });
  }, [needle, role, info, here, commands, collections, fields, headings]);
  const awaited = listAwaited(hits[0]).map((of) => ({ listed, names, guides })[of]);
  return {
    found: hits,
    isReading: names.isFetching,
    isFinal: needle === typed && awaited.every(({ isPending }) => !isPending),
  };
}

/** Fields, guides and the timeline rank last, so the search waits for them only if there are no other results. */
function listAwaited(first: SearchHit | undefined): readonly ('listed' | 'names' | 'guides')[] {
  if (first === undefined || first.kind === 'history') return ['listed', 'names', 'guides'];
  return first.kind === 'guide' ? ['listed', 'names'] : ['listed'];
}

const [store, spotlight] = createSpotlight();

/** Opens the search, empty. Does nothing unless `Search` is on the page. */
export const openSearch = () => spotlight.open();

interface Command {
  label: string;
  run: () => void;
}

/** Downloads the snapshot. If that fails, the top bar shows that the service does not respond. */
const downloadSnapshot = (): Promise<void> =>
  requestAnswer('getPastSnapshot', { query: { export: 'json' } })
    .then((answer) => saveAnswer(answer, 'snapshot.json'))
    .catch(() => undefined);

function useCommands(onShortcuts: () => void, onPassword: () => void): readonly Command[] {
  const { setColorScheme } = useMantineColorScheme();
  const session = useSession();
  const hasCookie = 'by' in session && session.by === 'cookie';
  const mayRead = useMay('readRequests');
  return useMemo(
    () => [
      { label: messages.commands.dark, run: () => setColorScheme('dark') },
      { label: messages.commands.light, run: () => setColorScheme('light') },
      { label: messages.commands.system, run: () => setColorScheme('auto') },
      { label: messages.shortcuts.title, run: onShortcuts },
      { label: messages.tour.title, run: startTour },
      ...(mayRead ? [{ label: messages.commands.snapshot, run: () => void downloadSnapshot() }] : []),
      ...(hasCookie ? [{ label: messages.account.changePassword, run: onPassword }] : []),
      { label: messages.account.signOut, run: () => void signOut() },
    ],
    [setColorScheme, onShortcuts, onPassword, hasCookie, mayRead],
  );
}

/** Opens on ⌘K, ⌘P or `openSearch`. Field names and headings are requested only then. */
export function Search({ onPassword }: { onPassword: () => void }) {
  const [query, setQuery] = useState('');
  const [isRequested, setAsked] = useState(false);
  const navigate = useNavigate();
  const [isShortcutsOpen, setShortcutsOpen] = useState(false);
  const commands = useCommands(
    useCallback(() => setShortcutsOpen(true), []),
    onPassword,
  );
  const { found, isReading, isFinal } = useSearchHits(query, isRequested, commands);
  const choose = useCallback(
    (hit: SearchHit) => {
      spotlight.close();
      if (hit.kind === 'command') hit.run();
      else void navigate(hit.to);
    },
    [navigate],
  );
  const input = useRef<HTMLInputElement>(null);
  const { onKeyDownCapture, type } = useSearchKeys({
    store,
    input,
    found,
    isFinal,
    setQuery,
    choose,
  });
  return (
    <>
      <Shortcuts isOpen={isShortcutsOpen} onChange={setShortcutsOpen} />
      <Spotlight.Root
        store={store}
        query={query}
        onQueryChange={(typed) => type(() => typed)}
        onSpotlightOpen={() => setAsked(true)}
        shortcut={['mod + K', 'mod + P']}
        // The shortcut also works while an input has the focus.
        tagsToIgnore={[]}
        scrollable
        maxHeight={440}
        attributes={{ content: { 'aria-label': messages.search.title } }}
      >
        <Spotlight.Search
          placeholder={messages.search.placeholder}
          aria-label={messages.search.title}
          ref={input}
          onKeyDownCapture={onKeyDownCapture}
          // Moves the cursor behind text that was typed before the input had the focus.
          onFocus={({ currentTarget: { value }, currentTarget }) =>
            currentTarget.setSelectionRange(value.length, value.length)
          }
          leftSection={<Glyph path={searchIcon} size={20} />}
        />
        <Spotlight.ActionsList>
          {found.map((each) => (
            <Spotlight.Action
              key={each.key}
              label={visibleName(each.label)}
              description={each.description}
              leftSection={<Icon of={each} />}
              onClick={() => choose(each)}
            />
          ))}
          {(found.length === 0 || (isReading && found[0]?.kind === 'history')) && (
            <Spotlight.Empty>{isReading ? messages.search.loading : messages.search.none}</Spotlight.Empty>
          )}
        </Spotlight.ActionsList>
      </Spotlight.Root>
    </>
  );
}

const ICONS = {
  field: fieldIcon,
  page: pageIcon,
  guide: guideIcon,
  action: actionIcon,
  command: actionIcon,
  history: historyIcon,
} as const;

function Icon({ of }: { of: SearchHit }) {
  if (of.kind === 'collection') return <MaterialIcon name={of.icon} otherwise={tableIcon} />;
  return <Glyph path={ICONS[of.kind]} />;
}

/* The input and output of the search. */

type SearchHit = {
  key: string;
  label: string;
  description: string;
  icon: string | null;
} & (
  | { kind: 'page' | 'collection' | 'field' | 'guide' | 'action' | 'history'; to: NavigateOptions }
  | { kind: 'command'; run: () => void }
);

interface SearchIndex {
  pages: readonly PageEntry[];
  parts: typeof PARTS;
  commands: readonly Command[];
  /** Headings of the guides. */
  headings: readonly Heading[];
  collections: readonly ListedCollection[];
  fields: readonly Pick<FieldDocument, 'collection' | 'field' | 'type'>[];
  /** True to include actions that change the schema. */
  mayEdit: boolean;
  /** True to include the timeline, which searches reasons and actors. */
  mayReadHistory: boolean;
  /** The collection of the open page. */
  here: string | undefined;
}

/** Returns the matching items. Equal names come first, then prefixes, then other matches. */
function best<T>(items: readonly T[], text: string, nameOf: (item: T) => string): T[] {
  const groups: [T[], T[], T[]] = [[], [], []];
  for (const item of items) {
    const name = nameOf(item).toLowerCase();
    const at = name.indexOf(text);
    if (at < 0) continue;
    const group = name.length === text.length ? groups[0] : at === 0 ? groups[1] : groups[2];
    if (group.length < MOST) group.push(item);
  }
  return groups.flat().slice(0, MOST);
}

const MAKING: readonly { label: string; to: NavigateOptions }[] = [
  { label: messages.actions.newCollection, to: { to: '/new' } },
  { label: messages.actions.newFolder, to: { to: '/new', search: { as: 'folder' } } },
];

/** Words that the user types before the name of a collection: `new field articles`. */
const DOING: readonly { words: string; label: (name: string) => string; edit: EditName; ofTables: boolean }[] = [
  { ...messages.edits.newField, edit: 'new-field', ofTables: true },
  { ...messages.edits.newRelation, edit: 'new-relation', ofTables: true },
  { ...messages.edits.edit, edit: 'collection', ofTables: false },
  { ...messages.edits.rename, edit: 'rename', ofTables: false },
  { ...messages.edits.delete, edit: 'delete', ofTables: false },
];

/** Maximum number of actions per kind. */
const MOST_ACTIONS = 6;

/**
 * Returns the actions that match. Create actions come first, then at most six of each kind of edit. They apply to the
 * open collection unless the input names another one.
 * @param text the input in lower case
 */
function actionsFor(text: string, { collections, here }: Pick<SearchIndex, 'collections' | 'here'>): SearchHit[] {
  const made = MAKING.filter(({ label }) => label.toLowerCase().includes(text)).map(({ label, to }) =>
    actionFound(label, to),
  );
  const done = DOING.flatMap(({ words, label, edit, ofTables }) => {
    const fitting = collections.filter(({ schema }) => !ofTables || schema !== null);
    return namesFor({ wanted: text, words, here }, fitting).map(({ collection: name }) =>
      actionFound(label(name), { to: '/collections/$name', params: { name }, search: { edit } }),
    );
  });
  return [...made, ...done];
}

interface SearchInput {
  wanted: string;
  words: string;
  here: string | undefined;
}

/** If the input contains only the words of an action, the action applies to the open collection. */
function namesFor({ wanted, words, here }: SearchInput, collections: readonly ListedCollection[]): ListedCollection[] {
  if (!wanted.startsWith(words)) {
    return words.startsWith(wanted) ? collections.filter(({ collection }) => collection === here) : [];
  }
  const name = wanted.slice(words.length).replace(messages.edits.preposition, '');
  const first = name === '' ? collections.filter(({ collection }) => collection === here) : [];
  return [...new Set([...first, ...best(collections, name, ({ collection }) => collection)])].slice(0, MOST_ACTIONS);
}

const actionFound = (label: string, to: NavigateOptions): SearchHit => ({
  kind: 'action',
  key: `action ${label}`,
  label,
  description: messages.search.draft,
  icon: null,
  to,
});
