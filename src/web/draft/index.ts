export { type Conflict, type DraftDiff, type Head, draftDiff } from './diff.js';
export { type LeftOut, discard, unapplied } from './edits.js';
export { readHead } from './read-head.js';
export { type Draft, type DraftedChange, changesIn, isEmpty, touchedAtHead } from './model.js';
export { settled } from './resolve-conflict.js';
export { type DraftState, currentDraft, discardDraft, editDraft, undoEdit } from './store.js';
export { useDraft } from './use-draft.js';
