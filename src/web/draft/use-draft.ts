/** The draft as components see it. */
import { useSyncExternalStore } from 'react';
import { type DraftState, currentDraft, subscribeDraft } from './store.js';

/** Draws the component again whenever the draft changes, in another tab too. */
export const useDraft = (): DraftState => useSyncExternalStore(subscribeDraft, currentDraft);
