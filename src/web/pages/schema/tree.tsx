import folderIcon from 'icon:folder';
import checkedIcon from 'icon:check_box';
import hiddenIcon from 'icon:visibility_off';
import openIcon from 'icon:expand_more';
import singleIcon from 'icon:looks_one';
import tableIcon from 'icon:table';
import uncheckedIcon from 'icon:check_box_outline_blank';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import type { ListedCollection } from '../../service/types.js';
import { abbreviate } from '../../shared/text.js';
import { Glyph, MaterialIcon, inkOf } from '../../shared/glyph.js';
import signClasses from './graph/mark-sign.module.css';
import { type Mark, SIGNS } from './graph/graph.js';
import { messages } from './messages.js';
import { type TreeRow, canContain, keyboardTarget } from './tree-model.js';
import { type DropTarget, useDragAndDrop } from '../../shared/drag-and-drop.js';
import classes from './tree.module.css';
import { Name, named } from '../../shared/name.js';

interface Props {
  rows: readonly TreeRow[];
  chosen: string | undefined;
  marks?: ReadonlyMap<string, Mark> | undefined;
  nameOf: (collection: ListedCollection) => string;
  onChoose: (collection: string) => void;
  /** Opens the page of a collection, by a double click or by Enter on the chosen row. Undefined in the past. */
  onOpen?: ((collection: string) => void) | undefined;
  onToggle: (collection: string, open: boolean) => void;
  /** Moves a collection, when the user drags it or presses Alt with an arrow key. */
  onMove?: ((collection: string, target: DropTarget) => void) | undefined;
  /** The collections that are selected for an edit. Null unless the user edits several collections. */
  selection: { names: ReadonlySet<string>; onToggle: (collection: string) => void } | null;
}

const ROW = 32;

export function Tree({ rows, chosen, marks, nameOf, onChoose, onOpen, onToggle, onMove, selection }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
  });
  const [at, setAt] = useState<string>();
  const chosenAt = rows.findIndex(({ node }) => node.collection.collection === (at ?? chosen));
  const focused = Math.max(0, chosenAt);

  useEffect(() => {
    const index = rows.findIndex(({ node }) => node.collection.collection === chosen);
    if (index >= 0) virtual.scrollToIndex(index, { align: 'auto' });
    // Only another choice scrolls: the tree stays where it is while groups are opened and closed.
    // oxlint-disable-next-line
  }, [chosen]);

  const moveTo = (name: string, target: DropTarget): void => {
    if (target.side === 'into') onToggle(target.name, true);
    onMove?.(name, target);
  };
  const dragProps = useDragAndDrop({
    canEnter: (name) => rows.some(({ node }) => node.collection.collection === name && canContain(node)),
    onDrop: moveTo,
  });
  const dragPropsOf = (name: string) => (onMove === undefined ? {} : dragProps(name));
  const choose = selection?.onToggle ?? onChoose;
  const openPage = selection === null ? onOpen : undefined;
  const activate = (name: string, key: string) =>
    key === 'Enter' && name === chosen && openPage !== undefined ? openPage(name) : choose(name);
  const focus = (index: number): void => {
    const row = rows[Math.min(Math.max(index, 0), rows.length - 1)];
    if (row === undefined) return;
    setAt(row.node.collection.collection);
    virtual.scrollToIndex(rows.indexOf(row), { align: 'auto' });
    requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus());
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[focused];
    if (row === undefined) return;
    const name = row.node.collection.collection;
    const move = MOVES[event.key];
    if (event.altKey && event.key.startsWith('Arrow')) {
      setAt(name);
      const target = keyboardTarget(rows, focused, event.key);
      if (target !== undefined) moveTo(name, target);
    } else if (event.key === 'Enter' || event.key === ' ') activate(name, event.key);
    else if (move === undefined) return;
    else {
      const next = move({ row, focused, rows, toggle: (open) => onToggle(name, open) });
      if (next !== null) focus(next);
    }
    event.preventDefault();
  };

  return (
    <div ref={scroller} className={classes.scroller}>
      <div
        role="tree"
        aria-label={messages.page.collections}
        className={classes.tree}
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={onKeyDown}
      >
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          if (row === undefined) return null;
          const { collection } = row.node;
          const name = collection.collection;
          const mark = marks?.get(name);
          return (
            <div
              key={name}
              role="treeitem"
              aria-level={row.level}
              aria-posinset={row.place}
              aria-setsize={row.of}
              aria-selected={name === chosen}
              {...(selection && { 'aria-checked': selection.names.has(name) })}
              {...(row.open === undefined ? {} : { 'aria-expanded': row.open })}
              tabIndex={index === focused ? 0 : -1}
              className={classes.row}
              data-hidden={collection.meta.hidden || undefined}
              data-mark={mark}
              style={{ transform: `translateY(${start}px)`, paddingInlineStart: row.level * 16 - 8 }}
              onClick={() => {
                setAt(name);
                choose(name);
              }}
              onDoubleClick={() => openPage?.(name)}
              {...dragPropsOf(name)}
            >
              <Toggle row={row} onToggle={(open) => onToggle(name, open)} />
              {selection && (
                <span className={classes.icon}>
                  <Glyph path={selection.names.has(name) ? checkedIcon : uncheckedIcon} size={18} />
                </span>
              )}
              <Label collection={collection} name={nameOf(collection)} mark={mark} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface LabelProps {
  collection: ListedCollection;
  name: string;
  mark: Mark | undefined;
}

function Label({ collection, name, mark }: LabelProps) {
  const { meta, schema } = collection;
  return (
    <>
      <span className={classes.icon} style={{ color: inkOf(meta.color) }}>
        <MaterialIcon name={meta.icon} otherwise={schema === null ? folderIcon : tableIcon} size={18} />
      </span>
      <span className={classes.name} title={titleOf(collection)}>
        <Name of={name} />
      </span>
      {mark && <MarkSign mark={mark} />}
      {meta.singleton && <Mark path={singleIcon} label={messages.tree.singleton} />}
      {meta.hidden && <Mark path={hiddenIcon} label={messages.tree.hidden} />}
    </>
  );
}

function Toggle({ row, onToggle }: { row: TreeRow; onToggle: (open: boolean) => void }) {
  if (row.open === undefined || row.locked) return <span className={classes.toggle} />;
  return (
    <span
      className={classes.toggle}
      data-open={row.open}
      aria-hidden="true"
      onClick={(event) => {
        event.stopPropagation();
        onToggle(row.open !== true);
      }}
    >
      <Glyph path={openIcon} size={18} />
    </span>
  );
}

function Mark({ path, label }: { path: string; label: string }) {
  return (
    <span className={classes.mark} role="img" aria-label={label} title={label}>
      <Glyph path={path} size={15} />
    </span>
  );
}

const titleOf = ({ collection, meta }: ListedCollection): string =>
  meta.note === null ? named`${collection}` : named`${collection}: ${abbreviate(meta.note)}`;

interface FocusPosition {
  row: TreeRow;
  focused: number;
  rows: readonly TreeRow[];
  toggle: (open: boolean) => void;
}

type FocusMove = (standing: FocusPosition) => number | null;

/** Returns the target row of each key. Null if the focus stays. */
const MOVES: Readonly<Record<string, FocusMove>> = {
  ArrowDown: ({ focused }) => focused + 1,
  ArrowUp: ({ focused }) => focused - 1,
  Home: () => 0,
  End: ({ rows }) => rows.length - 1,
  ArrowRight({ row, focused, toggle }) {
    if (row.open === false) toggle(true);
    return row.open === true ? focused + 1 : null;
  },
  ArrowLeft({ row, rows, focused, toggle }) {
    if (row.open !== true || row.locked) {
      return rows.findLastIndex(({ level }, index) => index < focused && level < row.level);
    }
    toggle(false);
    return null;
  },
};

/* The sign of a change, in the tree, the diagram and the replay. */

/** Shows a tooltip and a label for screen readers. */
export function MarkSign({ mark }: { mark: Mark }) {
  return (
    <span
      className={signClasses.sign}
      data-mark={mark}
      role="img"
      aria-label={messages.marks[mark]}
      title={messages.marks[mark]}
    >
      {SIGNS[mark]}
    </span>
  );
}
