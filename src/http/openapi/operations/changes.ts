import * as bodies from '../../change-requests/bodies.js';
import { actedOn, changeRequest, changeSummary, reverting } from '../answers/changes.js';
import { data, type OperationDoc, type OperationDocs, page } from '../operation-doc.js';

/** Actions on a request. */
const acts = {
  answer: data(actedOn),
  changes: true,
  refuses: ['INVALID_STATE', 'LOCK_TIMEOUT'],
} as const satisfies Omit<OperationDoc, 'id' | 'summary'>;
const DECIDED = ['INVALID_STATE', 'PLAN_CHANGED', 'SCHEMA_CHANGED', 'LOCK_TIMEOUT'] as const;

export const CHANGE_OPERATIONS: OperationDocs = {
  'GET /changes': {
    id: 'listChanges',
    summary: 'Change requests, newest first',
    answer: page(changeSummary),
  },
  'POST /changes': {
    id: 'openChange',
    summary: 'Propose a change: a diff, a snapshot of what the schema should be, or a policy',
    ...acts,
    body: bodies.newChange,
    example: { title: 'Orders have a note', reason: 'support asks for it', diff: { hash: '3f9a', diff: {} } },
    also: { 201: data(actedOn) },
    refuses: ['NOT_FOUND', 'SCHEMA_CHANGED', 'MERGE_CONFLICT', 'IN_USE', 'DATABASE_REFUSED', 'LOCK_TIMEOUT'],
  },
  'GET /changes/:id': {
    id: 'getChange',
    summary: 'A change request: what it would do now, what people said of it, how far it is, what became of it',
    answer: data(changeRequest),
  },
  'PATCH /changes/:id': {
    id: 'updateChange',
    summary: 'What a change request is called, why, or what it asks for',
    ...acts,
    body: bodies.changeUpdate,
    refuses: [...DECIDED, 'MERGE_CONFLICT', 'IN_USE'],
  },
  'POST /changes/:id/comment': {
    id: 'commentChange',
    summary: 'Say something of a change request',
    ...acts,
    body: bodies.changeComment,
  },
  'POST /changes/:id/approve': {
    id: 'approveChange',
    summary: 'Approve the plan that was looked at, and no other',
    ...acts,
    body: bodies.changeApproval,
    refuses: DECIDED,
  },
  'POST /changes/:id/reject': {
    id: 'rejectChange',
    summary: 'Reject a change request: what was approved before is not approved any more',
    ...acts,
    body: bodies.changeRejection,
  },
  'POST /changes/:id/prepare': {
    id: 'prepareChange',
    summary: 'Prepare what takes long of a change request, and wait then',
    ...acts,
    also: { 202: data(actedOn) },
    refuses: [...DECIDED, 'IN_USE', 'ONLINE_NOT_POSSIBLE'],
  },
  'POST /changes/:id/apply': {
    id: 'applyChange',
    summary:
      'Apply a change request, now or at a time; what takes long of it is prepared first, where it asks for that',
    ...acts,
    body: bodies.changeApplication,
    also: { 202: data(actedOn) },
    refuses: [...DECIDED, 'IN_USE', 'ONLINE_NOT_POSSIBLE', 'DATABASE_REFUSED'],
  },
  'POST /changes/:id/rebase': {
    id: 'rebaseChange',
    summary: 'Merge what a change request asks for onto the schema as it is now',
    ...acts,
    body: bodies.changeRebase,
    refuses: [...DECIDED, 'MERGE_CONFLICT', 'IN_USE'],
  },
  'POST /changes/:id/revert': {
    id: 'revertChange',
    summary: 'Open a change request that takes back what an applied one did',
    ...acts,
    body: bodies.changeRevert,
    answer: data(reverting),
    also: { 201: data(reverting) },
    refuses: [...DECIDED, 'MERGE_CONFLICT', 'IN_USE', 'DATABASE_REFUSED'],
  },
  'POST /changes/:id/withdraw': {
    id: 'withdrawChange',
    summary: 'Withdraw a change request: what was prepared is taken away',
    answer: data(changeRequest),
    changes: true,
    refuses: ['INVALID_STATE', 'LOCK_TIMEOUT'],
  },
};
