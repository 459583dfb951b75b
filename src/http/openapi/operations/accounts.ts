import { z } from 'zod';
import { credentials, newToken, newUser, refreshToken, userChanges } from '../../account-bodies.js';
import * as accounts from '../answers/accounts.js';
import { data, type OperationDocs, page } from '../operation-doc.js';

const SESSIONS: OperationDocs = {
  'POST /auth/login': {
    id: 'login',
    summary: 'Begin a session',
    body: credentials,
    example: { email: 'admin@example.com', password: 'correct horse battery' },
    answer: data(accounts.grant),
    refuses: ['UNAUTHENTICATED', 'FORBIDDEN', 'TOO_MANY_REQUESTS'],
  },
  'POST /auth/refresh': {
    id: 'refresh',
    summary: 'Continue a session',
    body: refreshToken,
    example: { refresh_token: '…' },
    answer: data(accounts.grant),
    refuses: ['UNAUTHENTICATED', 'FORBIDDEN'],
  },
  'POST /auth/logout': {
    id: 'logout',
    summary: 'End a session',
    body: refreshToken,
    example: { refresh_token: '…' },
    refuses: ['UNAUTHENTICATED', 'FORBIDDEN'],
  },
};

const USERS: OperationDocs = {
  'GET /users': { id: 'listUsers', summary: 'List users', answer: page(accounts.user) },
  'POST /users': {
    id: 'createUser',
    summary: 'Create a user',
    body: newUser,
    example: { email: 'ada@example.com', name: 'Ada', role: 'auditor', password: 'correct horse battery' },
    answer: data(accounts.user),
    refuses: ['ALREADY_EXISTS'],
  },
  'GET /users/me': { id: 'getMe', summary: 'Retrieve the user whose token is used', answer: data(accounts.user) },
  'GET /users/:id': { id: 'getUser', summary: 'Retrieve a user', answer: data(accounts.user) },
  'PATCH /users/:id': {
    id: 'updateUser',
    summary: 'Update a user',
    body: userChanges,
    example: { status: 'suspended' },
    answer: data(accounts.user),
    refuses: ['ALREADY_EXISTS', 'IN_USE'],
  },
  'DELETE /users/:id': {
    id: 'deleteUser',
    summary: 'Delete a user with its tokens and sessions',
    refuses: ['IN_USE'],
  },
  'GET /users/:id/tokens': {
    id: 'listTokens',
    summary: 'List the static tokens of a user',
    answer: data(z.array(accounts.token)),
  },
  'POST /users/:id/tokens': {
    id: 'createToken',
    summary: 'Create a static token; the answer is the only place that shows it',
    body: newToken,
    example: { name: 'deployment', expires_at: '2030-01-01T00:00:00Z' },
    answer: data(accounts.newToken),
  },
  'DELETE /users/:id/tokens/:token': { id: 'revokeToken', summary: 'Revoke a static token' },
  'DELETE /users/:id/sessions': {
    id: 'endSessions',
    summary: 'End all sessions of a user; static tokens stay',
    answer: data(z.strictObject({ ended: z.int().min(0) })),
  },
  'GET /sessions': {
    id: 'listSessions',
    summary: 'List the sessions that are alive, those used last first',
    answer: page(accounts.session),
  },
  'DELETE /sessions/:id': { id: 'endSession', summary: 'End a session; its access tokens end with it' },
};

export const ACCOUNT_OPERATIONS: OperationDocs = { ...SESSIONS, ...USERS };
