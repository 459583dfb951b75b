/** The draft as components see it. */
import { useSyncExternalStore } from 'react';
import { type DraftState, currentDraft, subscribeDraft } from './store.js';

export const useDraft = (): DraftState => useSyncExternalStore(subscribeDraft, currentDraft);
