/** Files that were brought, kept in this browser so that a reload and a link in it find them. The newest few. */
import { createStore, del, delMany, entries, get, set } from 'idb-keyval';
import { currentUserId } from '../../../service/session.js';
import { newId } from '../../../shared/new-id.js';

export interface BroughtFile {
  id: string;
  name: string;
  /** Its media type, as the service takes it. */
  type: string;
  content: Blob;
  /** Milliseconds since 1970. */
  at: number;
  /** Whose it is. */
  user: string;
}

const store = createStore('dps-files', 'files');
const MOST = 5;

/** A browser without room or without the right to keep things still shows them until it is reloaded. */
const atHand = new Map<string, BroughtFile>();

/** JSON where it looks so, else YAML, of which JSON is a part. */
function typeOf(name: string, beginning: string): string {
  if (/\.ya?ml$/i.test(name)) return 'application/yaml';
  return /^\s*[{[]/.test(beginning) ? 'application/json' : 'application/yaml';
}

/** @returns what names it in the address */
export async function bring(name: string, content: Blob): Promise<string> {
  const type = typeOf(name, await content.slice(0, 1_000).text());
  const file = { id: newId(), name, type, content, at: Date.now(), user: currentUserId() };
  atHand.set(file.id, file);
  await set(file.id, file, store)
    .then(forgetOld)
    .catch(() => undefined);
  return file.id;
}

/** Null: this browser doesn't have it, or has it of somebody else. */
export async function broughtFile(id: string): Promise<BroughtFile | null> {
  const found = atHand.get(id) ?? (await get<BroughtFile>(id, store).catch(() => undefined));
  return found?.user === currentUserId() ? found : null;
}

async function forgetOld(): Promise<void> {
  const all = await entries<string, BroughtFile>(store);
  const old = all.sort(([, one], [, other]) => other.at - one.at).slice(MOST);
  for (const [id] of old) await del(id, store);
}

/** Deletes the files of the user who is signed in. */
export async function forgetFiles(): Promise<void> {
  const user = currentUserId();
  const all = await entries<string, BroughtFile>(store);
  const own = all.filter(([, file]) => file.user === user).map(([id]) => id);
  atHand.clear();
  await delMany(own, store);
}
