/** The draft of the user who is signed in: in memory, and kept by this browser, for all of its tabs. No token is in it. */
import { type Session, currentSession, subscribeSession } from '../service/session.js';
import { keep, readKept } from '../shared/browser-storage.js';
import { draftText, readDraft } from './draft-text.js';
import { type Draft, EMPTY, isEmpty } from './model.js';

export interface DraftState {
  draft: Draft;
  /** What the browser kept was looked at: until then the draft is an empty one. */
  isRead: boolean;
  /** The browser keeps it; false: it can't, and a reload loses it. */
  isKept: boolean;
  /** There is an edit to take back. */
  canUndo: boolean;
}

let user: string | null = null;
let state: DraftState = { draft: EMPTY, isRead: false, isKept: true, canUndo: false };
/** Before the last edits, the newest last. */
let earlier: Draft[] = [];
const MOST_EARLIER = 50;
/** How often it was edited here, and read. */
let edits = 0;
let reads = 0;
const listeners = new Set<() => void>();
/** Says to other tabs whose draft is another one now. */
const tabs = new BroadcastChannel('dps-draft');

const nameOf = (id: string): string => `dps.draft.${id}`;

/** The same object until something changes. */
export const currentDraft = (): DraftState => state;

/**
 * @param listener called after every change, from other tabs too, with nothing
 * @returns what ends it
 */
export function subscribeDraft(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function become(changed: Partial<DraftState>): void {
  state = { ...state, ...changed, canUndo: earlier.length > 0 };
  for (const listener of listeners) listener();
}

/** Somebody else's draft isn't mine; it waits for its own user. */
function follow(session: Session): void {
  const id = 'user' in session ? session.user.id : null;
  if (id === user) return;
  user = id;
  earlier = [];
  become({ draft: EMPTY, isRead: id === null, isKept: true });
  if (id !== null) void read(id);
}

/** What is edited here meanwhile is newer than what is read, and what is read last is the newest. */
async function read(id: string): Promise<void> {
  const before = edits;
  const turn = ++reads;
  const found = await readKept(nameOf(id)).then(
    (text) => ({ draft: readDraft(text), isKept: true }),
    () => ({ draft: EMPTY, isKept: false }),
  );
  if (id !== user || turn !== reads) return;
  if (edits !== before) return become({ isRead: true });
  // What another tab did isn't this one's to take back.
  earlier = [];
  become({ ...found, isRead: true });
}

subscribeSession(() => follow(currentSession()));
follow(currentSession());

tabs.onmessage = ({ data }: MessageEvent<unknown>) => {
  if (user !== null && data === user) void read(user);
};

async function write(draft: Draft): Promise<void> {
  const owner = user;
  if (owner === null) return;
  const isKept = await keep(nameOf(owner), isEmpty(draft) ? null : draftText(draft));
  if (isKept) tabs.postMessage(owner);
  if (owner === user && state.draft === draft && state.isKept !== isKept) become({ isKept });
}

/** @param position of the log, on which a draft that is empty now begins */
export function editDraft(edit: (draft: Draft) => Draft, position = 0): void {
  const before = state.draft;
  const after = edit(before);
  if (after === before) return;
  earlier = [...earlier, before].slice(-MOST_EARLIER);
  edits += 1;
  const draft = isEmpty(after) ? EMPTY : { ...after, position: before.position || position };
  become({ draft });
  void write(draft);
}

/** Takes the last edit back. */
export function undoEdit(): void {
  const before = earlier.pop();
  if (before === undefined) return;
  edits += 1;
  become({ draft: before });
  void write(before);
}

/** Makes the draft empty. `undoEdit` brings it back. */
export const discardDraft = (): void => editDraft(() => EMPTY);

addEventListener('beforeunload', (event) => {
  if (!state.isKept && !isEmpty(state.draft)) event.preventDefault();
});
