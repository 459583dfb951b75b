/** Keyboard handling of the search, which loses no key pressed before it is ready. */
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
  /** The first result will stay first for this input. */
  isFinal: boolean;
  setQuery: (change: (query: string) => string) => void;
  choose: (found: SearchHit) => void;
}

/** @returns the key handler that runs before the component's own */
export function useSearchKeys({ store, input, found, isFinal, setQuery, choose }: Options) {
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

/** Keys that the input handles itself, repeated keys, and browser shortcuts. */
const isForOthers = (
  { ctrlKey, metaKey, altKey, isComposing, repeat }: KeyboardEvent,
  input: Element | null,
): boolean => document.activeElement === input || ctrlKey || metaKey || altKey || isComposing || repeat;

function typedBy(key: string): ((query: string) => string) | null {
  if (key === 'Backspace') return (query) => query.slice(0, -1);
  return Array.from(key).length === 1 ? (query) => query + key : null;
}
