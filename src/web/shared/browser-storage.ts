/**
 * What the browser keeps for the user over reloads: in IndexedDB, which has room for what is large. Of each name the newest
 * text is written, one write after the other; what a page that ends hadn't written yet goes where that is done at once, and is
 * found there by the next page.
 */
import { createStore, del, delMany, get, keys, set } from 'idb-keyval';

const store = createStore('dps', 'kept');
/** Milliseconds. A browser that doesn't answer is one that keeps nothing. */
const LONGEST = 15_000;

interface Writing {
  /** null: to be forgotten. */
  text: string | null;
  done: Promise<boolean>;
}

/** What isn't written yet, or is being written. */
const unwritten = new Map<string, Writing>();

/** @returns null: there is nothing. @throws Error where the browser can't read it */
export async function readKept(name: string): Promise<string | null> {
  const waiting = unwritten.get(name);
  if (waiting !== undefined) return waiting.text;
  const left = localStorage.getItem(name);
  if (left === null) return (await inTime(get<string>(name, store))) ?? null;
  const text = left === '' ? null : left;
  await keep(name, text);
  return text;
}

/**
 * @param text null: it is forgotten
 * @param delay milliseconds: what is typed isn't written letter by letter
 * @returns false: the browser can't keep it
 */
export function keep(name: string, text: string | null, delay = 0): Promise<boolean> {
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
      await inTime(text === null ? del(name, store) : set(name, text, store));
      // What a page that ended left is older.
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
export async function forgetKept(part: string): Promise<void> {
  for (const area of [localStorage, sessionStorage]) {
    for (const name of Object.keys(area).filter((each) => each.includes(part))) area.removeItem(name);
  }
  await Promise.all([...unwritten].filter(([name]) => name.includes(part)).map(([name]) => keep(name, null)));
  const names = await inTime(keys<string>(store));
  await inTime(
    delMany(
      names.filter((name) => name.includes(part)),
      store,
    ),
  );
}

function inTime<T>(work: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, reject) => setTimeout(() => reject(new Error('no answer')), LONGEST));
  return Promise.race([work, late]);
}

addEventListener('pagehide', () => {
  for (const [name, { text }] of unwritten) {
    try {
      localStorage.setItem(name, text ?? '');
    } catch {
      // Too large for it. The write that has begun may still come to its end.
    }
  }
});
