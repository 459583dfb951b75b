import { type Session, currentSession, subscribeSession } from '../service/session.js';
import { keep, readKept } from '../shared/browser-storage.js';
import { draftText, readDraft } from './draft-text.js';
import { type Draft, EMPTY, isEmpty } from './model.js';

export interface DraftState {
  draft: Draft;
  /** True if the stored draft was read. Until then the draft is empty. */
  isRead: boolean;
  /** True if the browser can store it; otherwise a reload loses it. */
  isKept: boolean;
  /** True if there is an edit to undo. */
  canUndo: boolean;
}

let user: string | null = null;
let state: DraftState = { draft: EMPTY, isRead: false, isKept: true, canUndo: false };
/** States before the last edits, newest last. */
let earlier: Draft[] = [];
const MOST_EARLIER = 50;
/** Counters of local edits and reads. */
let edits = 0;
let reads = 0;
const listeners = new Set<() => void>();
/** Tells other tabs whose draft changed. */
const tabs = new BroadcastChannel('dps-draft');

const nameOf = (id: string): string => `dps.draft.${id}`;

/** The same object until something changes. */
export const currentDraft = (): DraftState => state;

export function subscribeDraft(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function become(changed: Partial<DraftState>): void {
  state = { ...state, ...changed, canUndo: earlier.length > 0 };
  for (const listener of listeners) listener();
}

/** Another user's draft stays stored for that user. */
function follow(session: Session): void {
  const id = 'user' in session ? session.user.id : null;
  if (id === user) return;
  user = id;
  earlier = [];
  become({ draft: EMPTY, isRead: id === null, isKept: true });
  if (id !== null) void read(id);
}

/** A local edit is newer than a pending read, and the last read wins. */
async function read(id: string): Promise<void> {
  const before = edits;
  const turn = ++reads;
  const found = await readKept(nameOf(id)).then(
    (text) => ({ draft: readDraft(text), isKept: true }),
    () => ({ draft: EMPTY, isKept: false }),
  );
  if (id !== user || turn !== reads) return;
  if (edits !== before) return become({ isRead: true });
  // Edits of another tab cannot be undone here.
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

/** @param position of the log, which becomes the position of an empty draft */
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

/** Undoes the last edit. */
export function undoEdit(): void {
  const before = earlier.pop();
  if (before === undefined) return;
  edits += 1;
  become({ draft: before });
  void write(before);
}

/** Empties the draft. `undoEdit` restores it. */
export const discardDraft = (): void => editDraft(() => EMPTY);

addEventListener('beforeunload', (event) => {
  if (!state.isKept && !isEmpty(state.draft)) event.preventDefault();
});
