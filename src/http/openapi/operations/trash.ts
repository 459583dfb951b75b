import { z } from 'zod';
import { trashEntry } from '../answers/trash.js';
import { collection, field, finding } from '../answers/schema.js';
import { acknowledge, data, page, type OperationDocs } from '../operation-doc.js';

const restoreRequest = z
  .strictObject({
    acknowledge,
    as: z.string().optional().describe('Another name than it had'),
    without: z
      .array(z.string())
      .optional()
      .describe('What stays away, by name: foreign keys; of a field also its NOT NULL, unique, index and checks'),
  })
  .meta({ id: 'RestoreRequest' });

export const TRASH_OPERATIONS: OperationDocs = {
  'GET /trash': {
    id: 'listTrash',
    summary: 'What was deleted and can come back, newest first',
    answer: page(trashEntry),
  },
  'GET /trash/:position': {
    id: 'getTrash',
    summary: 'What one deletion left in the trash',
    answer: data(trashEntry),
  },
  'POST /trash/:position/restore': {
    id: 'restoreTrash',
    summary: 'Restore what one deletion left, with its rows',
    description:
      'Relations, alias fields and memberships that went with it return where they can; warnings name the others.',
    changes: true,
    body: restoreRequest,
    answer: z.strictObject({ data: z.union([collection, field]), warnings: z.array(finding).optional() }),
    refuses: ['IN_USE', 'ALREADY_EXISTS', 'DATABASE_REFUSED'],
  },
  'DELETE /trash/:position': {
    id: 'purgeTrash',
    summary: 'Purge what one deletion left: it is gone for good',
    changes: true,
    refuses: ['IN_USE', 'DATABASE_REFUSED'],
  },
};
