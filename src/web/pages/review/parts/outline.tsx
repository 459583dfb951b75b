import { TextInput } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useDeferredValue, useMemo, useRef, useState } from 'react';
import { counted } from '../../../shared/amounts.js';
import type { Item } from '../model/items.js';
import type { Located } from '../model/plan.js';
import classes from './parts.module.css';

interface Props {
  items: readonly Item[];
  /** Grouped by collection. */
  groups: readonly (readonly [collection: string, items: readonly Item[]])[];
  leftOut: ReadonlySet<string>;
  problems: Located;
  onChoose: (collection: string) => void;
}

/** The number visible without scrolling. */
const FEW = 14;

/**
 * Marks errors. Searchable if there are many.
 * @param props.onChoose called each time, also for the same collection
 */
export function Outline({ items, groups: all, leftOut, problems, onChoose }: Props) {
  const [typed, setTyped] = useState('');
  const needle = useDeferredValue(typed.trim().toLowerCase());
  const scroller = useRef<HTMLUListElement>(null);
  const groups = useMemo(() => all.filter(([name]) => name.toLowerCase().includes(needle)), [all, needle]);
  const virtual = useVirtualizer({
    count: groups.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 34,
    overscan: 12,
  });
  return (
    <nav className={classes.outline} aria-label="Changed collections">
      <p className={classes.total}>{totalText(items, all.length)}</p>
      {all.length > FEW && (
        <TextInput
          size="xs"
          mb={6}
          placeholder="Find a collection"
          aria-label="Find a collection"
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
                <bdi className={classes.entryName}>{collection}</bdi>
                {hasProblem && <span className={classes.bad}>rejected</span>}
                <Counts items={own} leftOut={leftOut} />
              </button>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

const SIGNS = [
  ['made', '+', 'new'],
  ['changed', '~', 'changed'],
  ['removed', '−', 'removed'],
] as const;

function Counts({ items, leftOut }: { items: readonly Item[]; leftOut: ReadonlySet<string> }) {
  const taken = items.filter(({ key }) => !leftOut.has(key));
  if (taken.length === 0) return <span className={classes.none}>excluded</span>;
  return (
    <span className={classes.counts}>
      {SIGNS.map(([how, sign, word]) => {
        const count = taken.filter((item) => (item.how === 'renamed' ? 'changed' : item.how) === how).length;
        return count === 0 ? null : (
          <span key={how} data-how={how} title={`${count} ${word}`}>
            {sign}
            {count}
          </span>
        );
      })}
    </span>
  );
}

function totalText(items: readonly Item[], collections: number): string {
  return `${counted(items.length, 'change')} in ${counted(collections, 'collection')}`;
}
