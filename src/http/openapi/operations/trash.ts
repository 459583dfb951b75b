/** What was deleted, and can come back. */
import { z } from 'zod';
import { trashEntry } from '../answers/trash.js';
import { data, type OperationDocs } from '../operation-doc.js';

export const TRASH_OPERATIONS: OperationDocs = {
  'GET /trash': {
    id: 'listTrash',
    summary: 'What was deleted and can come back, newest first',
    answer: data(z.array(trashEntry)),
  },
  'GET /trash/:position': {
    id: 'getTrash',
    summary: 'What one deletion left in the trash',
    answer: data(trashEntry),
  },
  'DELETE /trash/:position': {
    id: 'purgeTrash',
    summary: 'Purge what one deletion left: it is gone for good',
    changes: true,
    refuses: ['IN_USE', 'DATABASE_REFUSED'],
  },
};
