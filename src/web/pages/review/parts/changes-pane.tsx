/** The changes by collection. Only visible rows are rendered. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type RefObject, useCallback, useEffect, useMemo, useRef } from 'react';
import type { Item } from '../model/items.js';
import { statementsByItem } from '../model/plan.js';
import type { Review } from '../use-review.js';
import { CollectionHead } from './collection-head.js';
import { ItemCard } from './item-card.js';
import classes from './parts.module.css';

type Row = { kind: 'head'; collection: string; items: readonly Item[] } | { kind: 'item'; item: Item };

interface Props {
  review: Review;
  canChoose: boolean;
  /** The collection to scroll to; a new object for each request. */
  wanted: { collection: string } | null;
}

const NONE = [] as const;

/** @param props.canChoose whether changes can be left out */
export function ChangesPane({ review, canChoose, wanted }: Props) {
  const { items, groups, plan } = review;
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => rowsOf(groups), [groups]);
  const statements = useMemo(() => (plan === undefined ? new Map() : statementsByItem(plan, items)), [plan, items]);
  const tables = useMemo(() => new Map((plan?.tables ?? NONE).map((table) => [table.table, table])), [plan]);
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
    // Smooth scrolling stops short if row heights change on the way.
    event.preventDefault();
    if (event.key === 'Home') virtual.scrollToIndex(0);
    else virtual.scrollToIndex(rows.length - 1, { align: 'end' });
  };
  return (
    <div ref={scroller} className={classes.scroller} tabIndex={0} role="region" aria-label="Changes" onKeyDown={toEnds}>
      <div className={classes.rows} style={{ height: virtual.getTotalSize() }}>
        {/* Rows are stacked so that none covers the next before it is measured. */}
        <div className={classes.drawn} style={{ transform: `translateY(${drawn[0]?.start ?? 0}px)` }}>
          {drawn.map(({ index, key }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <div key={key} ref={virtual.measureElement} data-index={index} className={classes.row}>
                {row.kind === 'head' ? (
                  <CollectionHead
                    collection={row.collection}
                    items={row.items}
                    review={review}
                    table={tables.get(row.collection)}
                    canChoose={canChoose}
                  />
                ) : (
                  <ItemCard
                    item={row.item}
                    review={review}
                    statements={statements.get(row.item.key) ?? NONE}
                    tables={tables}
                    canChoose={canChoose}
                  />
                )}
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

const rowsOf = (groups: Review['groups']): Row[] =>
  groups.flatMap(([collection, own]): Row[] => [
    { kind: 'head', collection, items: own },
    ...own.map((item): Row => ({ kind: 'item', item })),
  ]);

function useScrollTo(
  wanted: Props['wanted'],
  rows: readonly Row[],
  scrollTo: (index: number) => void,
  scroller: RefObject<HTMLDivElement | null>,
): void {
  const done = useRef<Props['wanted']>(null);
  useEffect(() => {
    if (wanted === null || wanted === done.current) return;
    done.current = wanted;
    const index = rows.findIndex((row) => row.kind === 'head' && row.collection === wanted.collection);
    if (index < 0) return;
    scrollTo(index);
    scroller.current?.focus({ preventScroll: true });
  });
}
