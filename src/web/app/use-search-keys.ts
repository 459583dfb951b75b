/** The keys of the search: none of those that are pressed before it is ready to hear them is lost. */
import type { SpotlightStore } from '@mantine/spotlight';
import {
  type KeyboardEvent as ReactKeyboardEvent,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useState,
} from 'react';
import type { SearchHit } from './search-model.js';

interface Options {
  store: SpotlightStore;
  input: RefObject<HTMLInputElement | null>;
  found: readonly SearchHit[];
  /** Of what was typed, the first one that was found stays the first one. */
  isFinal: boolean;
  setQuery: (change: (query: string) => string) => void;
  choose: (found: SearchHit) => void;
}

/** @returns what the input does with a key before the kit does */
export function useSearchKeys({ store, input, found, isFinal, setQuery, choose }: Options) {
  /** Enter was pressed before there was anything to choose. */
  const [isPressed, setPressed] = useState(false);

  const type = useCallback(
    (change: (query: string) => string) => {
      setPressed(false);
      setQuery(change);
    },
    [setQuery],
  );

  // Each search begins empty, also while the one before is on its way out.
  useEffect(() => {
    let wasOpen = false;
    return store.subscribe(({ opened }) => {
      if (opened && !wasOpen) type(() => '');
      // Who has closed it is led nowhere by what is found later.
      if (!opened) setPressed(false);
      wasOpen = opened;
    });
  }, [store, type]);

  // The input has the keyboard only some frames after it is asked for.
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

  // The kit marks a line of the list as it was before the last letter.
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

/** What the input hears by itself, what is held down, and what goes to the browser. */
const isForOthers = (
  { ctrlKey, metaKey, altKey, isComposing, repeat }: KeyboardEvent,
  input: Element | null,
): boolean => document.activeElement === input || ctrlKey || metaKey || altKey || isComposing || repeat;

function typedBy(key: string): ((query: string) => string) | null {
  if (key === 'Backspace') return (query) => query.slice(0, -1);
  return Array.from(key).length === 1 ? (query) => query + key : null;
}
