/** Change requests. */
import { changeRequest, changeSummary } from '../answers/changes.js';
import { data, type OperationDocs, page } from '../operation-doc.js';

export const CHANGE_OPERATIONS: OperationDocs = {
  'GET /changes': {
    id: 'listChanges',
    summary: 'Change requests, newest first',
    answer: page(changeSummary),
  },
  'GET /changes/:id': {
    id: 'getChange',
    summary: 'A change request: how far it is, who is in its way, what became of it',
    answer: data(changeRequest),
  },
  'POST /changes/:id/withdraw': {
    id: 'withdrawChange',
    summary: 'Withdraw a change request: what was prepared is taken away',
    answer: data(changeRequest),
    refuses: ['INVALID_STATE', 'LOCK_TIMEOUT'],
  },
};
