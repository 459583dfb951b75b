import { useSyncExternalStore } from 'react';
import { type DraftState, currentDraft, subscribeDraft } from './store.js';

/** Renders again on every change of the draft, also from other tabs. */
export const useDraft = (): DraftState => useSyncExternalStore(subscribeDraft, currentDraft);
