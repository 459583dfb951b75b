import type { Route, WriteHeader } from '../route.js';
import type { JsonSchema } from './json-schema.js';
import type { OperationDoc } from './operation-doc.js';

interface Header {
  description: string;
  schema: JsonSchema;
}

const text: JsonSchema = { type: 'string' };

/** Headers of write requests, if their routes use them. */
const WRITE_PARAMETERS: Readonly<Record<WriteHeader, Header>> = {
  'Idempotency-Key': {
    description: 'Sent again by the same caller within 24 hours, it gets the first answer, and nothing is done twice',
    schema: { ...text, minLength: 1, maxLength: 255 },
  },
  'If-Match': {
    description: 'The hash that the schema must have (of the policy: the ETag of GET /policy): 412 when it has moved',
    schema: text,
  },
  'X-Acknowledge': {
    description:
      'Findings that the caller knows of, where the policy asks for it: `LOSES_DATA:articles.title`, separated by commas; in a name, `%2E` is a dot, `%2C` a comma, `%25` a percent sign. Kept with the events; 400 where one is not found',
    schema: text,
  },
  'X-Reason': { description: 'Why: kept with the events', schema: { ...text, maxLength: 1000 } },
};

/** Headers of requests whose response depends on the log. */
const POSITION_PARAMETERS: Readonly<Record<string, Header>> = {
  'X-Log-Position-At-Least': {
    description:
      'What the answer must be able to show: a position of the log, or one with the hash of its event (`42-3f9a…`). It ' +
      'is waited for; 503 when that takes too long, 409 `DIVERGED` when the log holds another event there',
    schema: { ...text, pattern: '^\\d{1,15}(-[0-9a-f]{8,64})?$' },
  },
};

/** Headers of reads whose response has a validator. */
const READ_PARAMETERS: Readonly<Record<string, Header>> = {
  'If-None-Match': { description: 'The ETag of an answer that is still at hand: 304 while it is right', schema: text },
};

export const HEADERS: Readonly<Record<string, Header>> = {
  'X-Request-Id': { description: 'The one of the request where it is sane, or a new one', schema: text },
  'X-Log-Position': { description: 'The position of the log that the answer reflects', schema: { type: 'integer' } },
  'X-Log-Lag': {
    description:
      'Only of a process that reads from a standby: for how many seconds, at most, it has not heard of what the primary has committed',
    schema: { type: 'number', minimum: 0 },
  },
  'X-Batch-Id': {
    description: 'The batch that the change became; absent when nothing was to be changed',
    schema: { ...text, format: 'uuid' },
  },
  'X-Warnings': {
    description:
      'Codes of losses that the change caused without being asked to, separated by commas. `DATA_NOT_KEPT`: deleted rows or values are not in the trash',
    schema: text,
  },
  ETag: { description: 'A strong validator of the answer', schema: text },
};

/** Headers of successful responses, as references to the components. */
export function answerHeaders({ access, needsPrimary }: Route, { changes, validated }: OperationDoc): JsonSchema {
  const names = [
    'X-Request-Id',
    ...(access === 'anyone' || needsPrimary ? [] : ['X-Log-Lag']),
    ...(changes || validated ? ['X-Log-Position'] : []),
    ...(changes ? ['X-Batch-Id', 'X-Warnings'] : []),
    ...(validated ? ['ETag'] : []),
  ];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

export function headerParameters({ access, heeds }: Route, { validated }: OperationDoc): JsonSchema[] {
  const headers = {
    ...(access !== 'anyone' && POSITION_PARAMETERS),
    ...Object.fromEntries(heeds.map((name) => [name, WRITE_PARAMETERS[name]])),
    ...(validated && READ_PARAMETERS),
  };
  return Object.entries(headers).map(([name, header]) => ({ name, in: 'header', required: false, ...header }));
}
