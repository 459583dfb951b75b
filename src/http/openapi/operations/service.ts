import { z } from 'zod';
import * as history from '../answers/history.js';
import * as operating from '../answers/operating.js';
import { diff, snapshot } from '../answers/schema.js';
import { data, type OperationDocs } from '../operation-doc.js';
import { EXPORT_TYPES } from './schema.js';

const logPage = (shape: z.ZodType): z.ZodType => z.strictObject({ data: z.array(shape), meta: history.next });

const HISTORY: OperationDocs = {
  'GET /history/events': {
    id: 'listEvents',
    summary: 'List events of the log',
    answer: logPage(history.event),
    refuses: ['DIVERGED'],
  },
  'GET /history/events/:position': { id: 'getEvent', summary: 'Retrieve one event', answer: data(history.event) },
  'GET /history/batches': {
    id: 'listBatches',
    summary: 'List accepted commands',
    answer: logPage(history.batch),
    refuses: ['DIVERGED'],
  },
  'GET /history/changes': {
    id: 'listBatchChanges',
    summary: 'Accepted commands, each with the documents that it changed, before and after',
    answer: logPage(history.changedBatch),
    refuses: ['DIVERGED'],
  },
  'GET /history/schema': {
    id: 'getPastDocuments',
    summary: 'Collections, fields and relations as they were at a moment, or some of them',
    answer: history.pastDocuments,
    refuses: ['NOT_FOUND'],
  },
  'GET /history/collections/:id': {
    id: 'getCollectionHistory',
    summary:
      'The history of a collection under all its names, a deleted one too: its events, each with the change it made',
    answer: z.strictObject({ data: z.array(history.lifeEvent), meta: history.lives }),
    refuses: ['DIVERGED'],
  },
  'GET /history/snapshot': {
    id: 'getPastSnapshot',
    summary: 'The schema as it was at a moment',
    answer: snapshot,
    media: [...EXPORT_TYPES, 'application/sql'],
    validated: true,
    refuses: ['NOT_FOUND'],
  },
  'GET /history/diff': {
    id: 'diffMoments',
    summary: 'What changed between two moments; from now, it is what apply needs to go back',
    answer: diff,
    refuses: ['NOT_FOUND', 'CONTENT_TOO_LARGE'],
  },
  'GET /history/verify': {
    id: 'verifyLog',
    summary: 'Recompute the hash chain of the log',
    answer: data(history.verification),
  },
  'POST /history/acknowledge': {
    id: 'acknowledgeLog',
    summary: 'Go on with a log that is not the one that was seen',
    answer: data(history.acknowledged),
    refuses: ['LOG_DIVERGED', 'IN_USE'],
  },
  'GET /history/export': {
    id: 'exportLog',
    summary: 'The whole log, one event a line',
    media: ['application/x-ndjson'],
  },
  'GET /history/checkpoint': {
    id: 'getCheckpoint',
    summary: 'Position, hash, time and origin of the log, signed: a signed note, to be kept elsewhere',
    media: ['text/plain'],
    refuses: ['NOT_FOUND', 'LOG_DIVERGED', 'UNAVAILABLE'],
  },
  'GET /history/checkpoint/keys': {
    id: 'listCheckpointKeys',
    summary: 'The public keys that checkpoints are and were signed with',
    answer: data(z.array(history.checkpointKey)),
  },
  'POST /history/checkpoint/keys': {
    id: 'rotateCheckpointKey',
    summary: 'Sign with a new key that is kept in the database; the public half of the one before stays',
    answer: data(history.checkpointKey),
    refuses: ['IN_USE'],
  },
  'GET /history/stream': {
    id: 'streamEvents',
    summary: 'Events as they are accepted, as server-sent events',
    description:
      '`subject` narrows them down as in /history/events: `change` to those of change requests, `change:ID` to those of one. Authors are not told from where requests were made.',
    media: ['text/event-stream'],
    refuses: ['NOT_FOUND', 'DIVERGED'],
  },
};

const PROJECTIONS: OperationDocs = {
  'GET /projections': {
    id: 'listProjections',
    summary: 'How far each projection has come',
    answer: data(z.array(operating.projection)),
  },
  'GET /projections/verify': {
    id: 'verifyProjections',
    summary: 'Compare the log, the metadata rows and the catalog',
    answer: data(operating.verification),
  },
  'POST /projections/:name/rebuild': {
    id: 'rebuildProjection',
    summary: 'Rebuild a projection from the log',
    answer: data(operating.rebuilt),
    refuses: ['IN_USE', 'DATABASE_REFUSED'],
  },
};

const SERVER: OperationDocs = {
  'GET /metrics': { id: 'getMetrics', summary: 'Figures for Prometheus', media: ['text/plain'] },
  'GET /server/ping': { id: 'ping', summary: 'Whether the service is there', media: ['text/plain'] },
  'GET /server/live': {
    id: 'getLive',
    summary: 'Whether the process answers, also while it starts or its database is away: for who restarts it',
    answer: operating.live,
  },
  'GET /server/ready': {
    id: 'getReady',
    summary:
      'Whether the service can work, on a standby: whether it can read; 503 when it cannot: for who sends it requests',
    answer: operating.health,
    also: { 503: operating.health },
  },
  'GET /server/health': {
    id: 'getHealth',
    summary: 'The same as /server/ready',
    answer: operating.health,
    also: { 503: operating.health },
  },
  'GET /server/doctor': {
    id: 'examine',
    summary: 'What `dps doctor` finds: settings, rights, the log, the projections, each finding with how to mend it',
    description: 'It reads the whole log. Findings are the same as on the command line; nothing is changed.',
    answer: data(operating.examination),
  },
  'GET /server/info': {
    id: 'getInfo',
    summary: 'What runs here, and the state of the schema',
    answer: data(operating.info),
  },
  'GET /server/openapi.json': {
    id: 'getOpenApi',
    summary: 'This document',
    answer: z.looseObject({ openapi: z.string() }),
    validated: true,
  },
  'GET /docs': {
    id: 'getDocs',
    summary: 'This document as a page',
    media: ['text/html'],
    validated: true,
  },
  'GET /server/specs/oas': {
    id: 'readOpenApiSpec',
    summary: 'This document, where clients of the peer look for it',
    answer: z.looseObject({ openapi: z.string() }),
    validated: true,
  },
};

export const SERVICE_OPERATIONS: OperationDocs = { ...HISTORY, ...PROJECTIONS, ...SERVER };
