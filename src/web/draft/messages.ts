import { inLanguage } from '../shared/language.js';

export const messages = inLanguage(
  {
    marks: { made: 'new', changed: 'changed', renamed: 'renamed', removed: 'deleted' },
    inDraft: 'In your draft',
    title: 'Draft',
    notApplied: 'Nothing is applied until you review it.',
    notStored: 'This browser cannot store the draft. Reloading the page deletes it.',
    undo: 'Undo',
    discard: 'Discard',
    discardAll: 'Yes, discard all',
    review: 'Review',
  },
  {
    marks: { made: 'neu', changed: 'geändert', renamed: 'umbenannt', removed: 'gelöscht' },
    inDraft: 'In Ihrem Entwurf',
    title: 'Entwurf',
    notApplied: 'Vor der Prüfung wird nichts angewendet.',
    notStored: 'Dieser Browser kann den Entwurf nicht speichern. Beim Neuladen der Seite geht er verloren.',
    undo: 'Rückgängig',
    discard: 'Verwerfen',
    discardAll: 'Ja, alles verwerfen',
    review: 'Prüfen',
  },
);
