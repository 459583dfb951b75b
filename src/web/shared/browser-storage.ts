/**
 * Stores user data in IndexedDB, which has space for large values. The newest text per name is written, one write at a
 * time. A closing page stores pending writes synchronously in another storage, where the next page finds them.
 */
import { createStore, del, delMany, get, keys, set } from 'idb-keyval';
import { useSyncExternalStore } from 'react';
import { currentUserId } from '../service/session.js';

const store = createStore('dps', 'kept');
/** Milliseconds after which a browser that does not respond counts as one without storage. */
const LONGEST = 15_000;

interface Writing {
  /** The text to write. Null deletes the stored text. */
  text: string | null;
  done: Promise<boolean>;
}

/** Pending and running writes. */
const unwritten = new Map<string, Writing>();

/**
 * @returns null if there is none
 * @throws Error if the browser cannot read it
 */
export async function readKept(name: string): Promise<string | null> {
  const waiting = unwritten.get(name);
  if (waiting !== undefined) return waiting.text;
  const left = localStorage.getItem(name);
  if (left === null) return (await withTimeLimit(get<string>(name, store))) ?? null;
  const text = left === '' ? null : left;
  await storeText(name, text);
  return text;
}

/**
 * Stores a string.
 * @param text null deletes the stored text
 * @param delay milliseconds before the write, so that typed letters are combined
 * @returns false if the browser cannot store it
 */
export function storeText(name: string, text: string | null, delay = 0): Promise<boolean> {
  const before = unwritten.get(name);
  if (before !== undefined) {
    before.text = text;
    return before.done;
  }
  const writing: Writing = { text, done: Promise.resolve(true) };
  unwritten.set(name, writing);
  writing.done = write(name, writing, delay);
  return writing.done;
}

async function write(name: string, writing: Writing, delay: number): Promise<boolean> {
  if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
  try {
    for (;;) {
      const { text } = writing;
      await withTimeLimit(text === null ? del(name, store) : set(name, text, store));
      // The fallback was written by a page that has ended, so it is older.
      localStorage.removeItem(name);
      if (writing.text === text) return true;
    }
  } catch {
    return false;
  } finally {
    unwritten.delete(name);
  }
}

/** Deletes everything that the browser keeps under names that contain `part`, such as the id of a user. */
export async function deleteStored(part: string): Promise<void> {
  for (const area of [localStorage, sessionStorage]) {
    for (const name of Object.keys(area).filter((each) => each.includes(part))) area.removeItem(name);
  }
  await Promise.all([...unwritten].filter(([name]) => name.includes(part)).map(([name]) => storeText(name, null)));
  const names = await withTimeLimit(keys<string>(store));
  await withTimeLimit(
    delMany(
      names.filter((name) => name.includes(part)),
      store,
    ),
  );
}

function withTimeLimit<T>(work: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, reject) => setTimeout(() => reject(new Error('no answer')), LONGEST));
  return Promise.race([work, late]);
}

addEventListener('pagehide', () => {
  for (const [name, { text }] of unwritten) {
    try {
      localStorage.setItem(name, text ?? '');
    } catch {
      // The text is too large for the fallback. A running write may still complete.
    }
  }
});

/* Small values for a user in localStorage. Their names contain the id of the user, so they are deleted with drafts. */

const listeners = new Set<() => void>();

const keyOf = (name: string): string => `dps.${name}.${currentUserId()}`;

export function storeValue(name: string, value: string): void {
  localStorage.setItem(keyOf(name), value);
  for (const listener of listeners) listener();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  // Other tabs of this browser.
  addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('storage', listener);
  };
}

/** Null if nothing is stored. */
export const useStored = (name: string): string | null =>
  useSyncExternalStore(listen, () => localStorage.getItem(keyOf(name)));
