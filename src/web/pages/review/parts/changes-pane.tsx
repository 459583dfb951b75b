/* The changes by collection. Only visible rows are rendered. */
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useDeferredValue,
  useState,
} from 'react';
import { Button, Checkbox, Group, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Item } from '../model/items.js';
import { statementsByItem, type LockedTable, type Located } from '../model/plan.js';
import type { ShownChange } from '../model/requested-diff.js';
import type { Review } from '../use-review.js';
import { ItemCard } from './item-card.js';
import classes from './parts.module.css';
import { relationsQuery } from '../../../service/queries.js';
import { recentChangesQuery } from '../../../service/review-queries.js';
import { Time } from '../../../shared/time.js';
import { useMay } from '../../../service/session.js';
import { countChanges, dropContents, signOf, totalText } from '../../../shared/changes/total.js';
import { sizeText } from '../../../shared/text.js';
import { actorName } from '../../../../schema/model/events.js';
import { Name } from '../../../shared/name.js';
import { messages } from '../messages.js';

const { pane: texts } = messages;

interface Props {
  items: readonly Item[];
  /** Grouped by collection. */
  groups: readonly (readonly [collection: string, items: readonly Item[]])[];
  /** The selected items. */
  carriedOut: readonly Item[];
  problems: Located;
  onChoose: (collection: string) => void;
}

/** The number visible without scrolling. */
const FEW = 14;

/**
 * Lists the collections and marks those with errors. If there are many, the user can search.
 * @param props.onChoose called for each choice, even of the same collection
 */
export function Outline({ items, groups: all, carriedOut, problems, onChoose }: Props) {
  const [typed, setTyped] = useState('');
  const needle = useDeferredValue(typed.trim().toLowerCase());
  const taken = useMemo(() => new Set(carriedOut), [carriedOut]);
  const excluded = countChanges(items) - countChanges(carriedOut);
  const scroller = useRef<HTMLUListElement>(null);
  const groups = useMemo(() => all.filter(([name]) => name.toLowerCase().includes(needle)), [all, needle]);
  const virtual = useVirtualizer({
    count: groups.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 34,
    overscan: 12,
  });
  return (
    <nav className={classes.outline} aria-label={texts.collections}>
      <p className={classes.total}>{excluded > 0 ? texts.excludedOf(totalText(items), excluded) : totalText(items)}</p>
      {items.length > countChanges(items) && <p className={classes.totalHint}>{texts.contents(items.length)}</p>}
      {all.length > FEW && (
        <TextInput
          size="xs"
          mb={6}
          placeholder={texts.find}
          aria-label={texts.find}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      )}
      <ul ref={scroller} className={classes.entries}>
        <li className={classes.space} aria-hidden="true" style={{ height: virtual.getTotalSize() }} />
        {virtual.getVirtualItems().map(({ index, start }) => {
          const [collection, own] = groups[index] ?? ['', []];
          const hasProblem = own.some(({ key, members }) =>
            [key, ...members.map((member) => member.key)].some((each) => problems.at.has(each)),
          );
          return (
            <li key={collection} className={classes.entry} style={{ transform: `translateY(${start}px)` }}>
              <button type="button" onClick={() => onChoose(collection)} data-problem={hasProblem || undefined}>
                <Name of={collection} className={classes.entryName} />
                {hasProblem && <span className={classes.bad}>{texts.rejected}</span>}
                <Counts items={own.filter((item) => taken.has(item))} />
              </button>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

const SIGNS = [
  ['+', 'made'],
  ['~', 'changed'],
  ['−', 'removed'],
] as const;

/**
 * Shows numbers of changes: `+12 ~3 −70`.
 * @param props.items the selected changes
 */
export function Counts({ items }: { items: readonly Item[] }) {
  const shown = useMemo(() => dropContents(items), [items]);
  if (items.length === 0) return <span className={classes.none}>{texts.excluded}</span>;
  return (
    <span className={classes.counts}>
      {SIGNS.map(([sign, mark]) => {
        const count = shown.filter((item) => signOf(item.mark) === sign).length;
        return count === 0 ? null : (
          <span key={mark} data-mark={mark} title={texts.counts[mark](count)}>
            {sign}
            {count}
          </span>
        );
      })}
    </span>
  );
}

interface CollectionHeadProps {
  collection: string;
  items: readonly Item[];
  review: ShownChange;
  table: LockedTable | undefined;
  canChoose: boolean;
  heading: 'h2' | 'h3';
}

/**
 * Shows the heading of a collection. A new collection has neither a size nor a history.
 * @param props.table the table as the plan locks it. Undefined if it is not locked, so that its size is unknown
 */
function CollectionHead({ collection, items, review, table, canChoose, heading: Heading }: CollectionHeadProps) {
  const out = items.filter(({ key }) => review.leftOut.has(key)).length;
  const keys = items.flatMap(({ key, members }) => [key, ...members.map((member) => member.key)]);
  return (
    <div className={classes.head}>
      <Group gap="xs" wrap="nowrap">
        {canChoose && items.length > 1 && (
          <Checkbox
            size="sm"
            checked={out === 0}
            indeterminate={out > 0 && out < items.length}
            aria-label={texts.includeAll(collection)}
            onChange={(event) => review.leave(keys, !event.currentTarget.checked)}
          />
        )}
        <Heading className={classes.collection}>
          <Name of={collection} />
        </Heading>
      </Group>
      {items.every(({ part }) => part === 'objects') ||
      items.some(({ part, mark }) => part === 'collections' && mark === 'made') ? null : (
        <Hits collection={collection} table={table} />
      )}
    </div>
  );
}

/** Shows which objects a change to the collection affects. */
function Hits({ collection, table }: { collection: string; table: LockedTable | undefined }) {
  const { data: relations = [] } = useQuery(relationsQuery());
  const { data: lately } = useQuery({ ...recentChangesQuery(collection), enabled: useMay('readHistory') });
  const leading = relations.filter((each) => each.related_collection === collection && each.collection !== collection);
  const from = [...new Set(leading.map((each) => each.collection))];
  const size = table === undefined ? null : sizeText(table);
  const [last] = lately ?? [];
  return (
    <p className={classes.hits}>
      {size !== null && <span>{size}</span>}
      {from.length > 0 && <span title={from.slice(0, 20).join(', ')}>{texts.referencedBy(from)}</span>}
      {last !== undefined && (
        <span>
          <Link to="/timeline" search={{ collection }}>
            {texts.lastChanged(<Time at={last.occurred_at} />, actorName(last.actor))}
          </Link>
        </span>
      )}
    </p>
  );
}

type Row = { kind: 'head'; collection: string; items: readonly Item[] } | { kind: 'item'; item: Item };

interface PlannedDetails {
  statements: Parameters<typeof statementsByItem>[0]['statements'];
  events?: Parameters<typeof statementsByItem>[0]['events'];
  tables?: readonly LockedTable[];
}

interface ChangeRowOptions {
  review: ShownChange;
  /** Undefined until there is a plan. */
  plan: PlannedDetails | undefined;
  /** True if the user can exclude changes. */
  canChoose: boolean;
  /** The level of the headings with the names of collections. */
  heading: 'h2' | 'h3';
  /** Renders further content of a change. */
  children?: (item: Item) => ReactNode;
}

/** Returns the rows with the changes by collection, and a function that renders one. */
function useChangeRows({ review, plan, canChoose, heading, children }: ChangeRowOptions) {
  const { items, groups } = review;
  const rows = useMemo(() => rowsOf(groups), [groups]);
  const statements = useMemo(() => (plan === undefined ? new Map() : statementsByItem(plan, items)), [plan, items]);
  const tables = useMemo(() => new Map((plan?.tables ?? NONE).map((table) => [table.table, table])), [plan]);
  const renderRow = (row: Row) =>
    row.kind === 'head' ? (
      <CollectionHead
        collection={row.collection}
        items={row.items}
        review={review}
        table={tables.get(row.collection)}
        canChoose={canChoose}
        heading={heading}
      />
    ) : (
      <ItemCard
        item={row.item}
        review={review}
        statements={statements.get(row.item.key) ?? NONE}
        tables={tables}
        canChoose={canChoose}
      >
        {children?.(row.item)}
      </ItemCard>
    );
  return { rows, renderRow };
}

/** Number of rows that are rendered at first, and that each click adds. */
const MOST_ROWS = 40;

/** Shows the changes without a scroll area of their own. The first rows are rendered, and the others on request. */
export function ChangeRows(options: Omit<ChangeRowOptions, 'canChoose' | 'heading'>) {
  const { rows, renderRow } = useChangeRows({ ...options, canChoose: false, heading: 'h3' });
  const [most, setMost] = useState(MOST_ROWS);
  const rest = rows.slice(most).filter(({ kind }) => kind === 'item').length;
  return (
    <div>
      {rows.slice(0, most).map((row) => (
        <div key={rowKey(row)} className={classes.row}>
          {renderRow(row)}
        </div>
      ))}
      {rest > 0 && (
        <Button variant="default" size="xs" onClick={() => setMost(most + MOST_ROWS)}>
          {texts.showMore(rest)}
        </Button>
      )}
    </div>
  );
}

interface ChangesPaneProps {
  review: Review;
  canChoose: boolean;
  /** The collection to scroll to. Each request is a new object. */
  wanted: { collection: string } | null;
}

const NONE = [] as const;

/** @param props.canChoose true if the user can exclude changes */
export function ChangesPane({ review, canChoose, wanted }: ChangesPaneProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const { rows, renderRow } = useChangeRows({ review, plan: review.plan, canChoose, heading: 'h2' });
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (rows[index]?.kind === 'head' ? 56 : 150),
    // A new function would cause all rows to be measured again.
    getItemKey: useCallback((index: number) => rowKey(rows[index]), [rows]),
    overscan: 6,
  });
  const drawn = virtual.getVirtualItems();
  useScrollTo(wanted, rows, (index) => virtual.scrollToIndex(index, { align: 'start' }), scroller);
  const toEnds = (event: KeyboardEvent) => {
    const isPlain = !event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (event.target !== event.currentTarget || !isPlain || !(event.key === 'Home' || event.key === 'End')) return;
    // Smooth scrolling stops short if row heights change during it.
    event.preventDefault();
    if (event.key === 'Home') virtual.scrollToIndex(0);
    else virtual.scrollToIndex(rows.length - 1, { align: 'end' });
  };
  return (
    <div
      ref={scroller}
      className={classes.scroller}
      tabIndex={0}
      role="region"
      aria-label={messages.changes}
      onKeyDown={toEnds}
    >
      <div className={classes.rows} style={{ height: virtual.getTotalSize() }}>
        {/* Rows are stacked so that none covers the next before it is measured. */}
        <div className={classes.drawn} style={{ transform: `translateY(${drawn[0]?.start ?? 0}px)` }}>
          {drawn.map(({ index, key }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <div key={key} ref={virtual.measureElement} data-index={index} className={classes.row}>
                {renderRow(row)}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

const rowKey = (row: Row | undefined): string =>
  row === undefined ? '' : row.kind === 'head' ? `head ${row.collection}` : row.item.key;

const rowsOf = (groups: ShownChange['groups']): Row[] =>
  groups.flatMap(([collection, own]): Row[] => [
    { kind: 'head', collection, items: own },
    ...own.map((item): Row => ({ kind: 'item', item })),
  ]);

function useScrollTo(
  wanted: ChangesPaneProps['wanted'],
  rows: readonly Row[],
  scrollTo: (index: number) => void,
  scroller: RefObject<HTMLDivElement | null>,
): void {
  const done = useRef<ChangesPaneProps['wanted']>(null);
  useEffect(() => {
    if (wanted === null || wanted === done.current) return;
    done.current = wanted;
    const index = rows.findIndex((row) => row.kind === 'head' && row.collection === wanted.collection);
    if (index < 0) return;
    scrollTo(index);
    scroller.current?.focus({ preventScroll: true });
  });
}
