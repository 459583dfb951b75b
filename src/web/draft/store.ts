/** The draft of the user who is signed in: in memory, and in this browser's storage, for all of its tabs. No token is in it. */
import { type Session, currentSession, subscribeSession } from '../service/session.js';
import { draftText, readDraft } from './kept.js';
import { type Draft, EMPTY, isEmpty } from './model.js';

export interface DraftState {
  draft: Draft;
  /** The browser keeps it; false: it has no room, and a reload loses it. */
  isKept: boolean;
  /** There is an edit to take back. */
  canUndo: boolean;
}

let user: string | null = null;
let state: DraftState = { draft: EMPTY, isKept: true, canUndo: false };
/** Before the last edits, the newest last. */
let earlier: Draft[] = [];
const MOST_EARLIER = 50;
const listeners = new Set<() => void>();

const nameOf = (id: string): string => `dps.draft.${id}`;

export const currentDraft = (): DraftState => state;

export function subscribeDraft(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function become(draft: Draft, isKept = true): void {
  state = { draft, isKept, canUndo: earlier.length > 0 };
  for (const listener of listeners) listener();
}

/** Somebody else's draft isn't mine; it waits for its own user. */
function follow(session: Session): void {
  const id = 'user' in session ? session.user.id : null;
  if (id === user) return;
  user = id;
  earlier = [];
  become(id === null ? EMPTY : readDraft(localStorage.getItem(nameOf(id))));
}

subscribeSession(() => follow(currentSession()));
follow(currentSession());

addEventListener('storage', ({ key, newValue }) => {
  if (user === null || key !== nameOf(user)) return;
  // What another tab did isn't this one's to take back.
  earlier = [];
  become(readDraft(newValue));
});

function keep(draft: Draft): boolean {
  if (user === null) return false;
  try {
    if (isEmpty(draft)) localStorage.removeItem(nameOf(user));
    else localStorage.setItem(nameOf(user), draftText(draft));
    return true;
  } catch {
    return false;
  }
}

/** @param position of the log, on which a draft that is empty now begins */
export function editDraft(edit: (draft: Draft) => Draft, position = 0): void {
  const before = state.draft;
  const after = edit(before);
  if (after === before) return;
  earlier = [...earlier, before].slice(-MOST_EARLIER);
  const draft = isEmpty(after) ? EMPTY : { ...after, position: before.position || position };
  become(draft, keep(draft));
}

/** Takes the last edit back. */
export function undoEdit(): void {
  const before = earlier.pop();
  if (before !== undefined) become(before, keep(before));
}

export const discardDraft = (): void => editDraft(() => EMPTY);
