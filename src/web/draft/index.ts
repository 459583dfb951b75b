export { type Head, draftDiff, resolveConflict as settled } from './diff.js';
export { remainingDraft } from './edits.js';
export { readHead } from './read-head.js';
export { type Draft, isEmpty, touchedAtHead } from './model.js';
export { editDraft, useDraft } from './store.js';
