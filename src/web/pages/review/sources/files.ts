/** Imported files, stored in this browser for reloads and links. Only the newest few. */
import { createStore, del, delMany, entries, get, set } from 'idb-keyval';
import { currentUserId } from '../../../service/session.js';
import { newId } from '../../../shared/new-id.js';

export interface BroughtFile {
  id: string;
  name: string;
  /** The media type for the service. */
  type: string;
  content: Blob;
  /** Milliseconds since 1970. */
  at: number;
  /** The user who imported it. */
  user: string;
}

const store = createStore('dps-files', 'files');
const MOST = 5;

/** Without browser storage, files are kept in memory until a reload. */
const atHand = new Map<string, BroughtFile>();

/** JSON if it looks like it, otherwise YAML, a superset. */
function typeOf(name: string, beginning: string): string {
  if (/\.ya?ml$/i.test(name)) return 'application/yaml';
  return /^\s*[{[]/.test(beginning) ? 'application/json' : 'application/yaml';
}

/** @returns its id in the address */
export async function bring(name: string, content: Blob): Promise<string> {
  const type = typeOf(name, await content.slice(0, 1_000).text());
  const file = { id: newId(), name, type, content, at: Date.now(), user: currentUserId() };
  atHand.set(file.id, file);
  await set(file.id, file, store)
    .then(forgetOld)
    .catch(() => undefined);
  return file.id;
}

/** Null if this browser does not have it, or has it from another user. */
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
