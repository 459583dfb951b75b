export { type Head, draftDiff } from './diff.js';
export { unapplied } from './edits.js';
export { readHead } from './read-head.js';
export { type Draft, isEmpty, touchedAtHead } from './model.js';
export { settled } from './resolve-conflict.js';
export { editDraft } from './store.js';
export { useDraft } from './use-draft.js';
