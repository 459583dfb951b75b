/** The responses of an operation, including every error status. */
import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { type ErrorCode, STATUS } from '../errors.js';
import type { Route } from '../route.js';
import { changeRequest } from './answers/changes.js';
import { errors } from './answers/errors.js';
import { plan } from './answers/operating.js';
import { answerHeaders } from './headers.js';
import type { Components, JsonSchema } from './json-schema.js';
import { data, type OperationDoc } from './operation-doc.js';

type Responses = Record<string, JsonSchema>;

/** Maps each status to its description and shape. */
export function responsesOf(route: Route, doc: OperationDoc, components: Components): Responses {
  const also = Object.entries(doc.also ?? {}).map(([status, shape]) => [
    status,
    { description: STATUS_CODES[status] ?? '', content: json(shape, components) },
  ]);
  return { ...successes(route, doc, components), ...refusals(route, doc), ...Object.fromEntries(also) };
}

function successes(route: Route, doc: OperationDoc, components: Components): Responses {
  const { media = [], validated } = doc;
  const answer = answerOf(route, doc);
  const headers = answerHeaders(route, doc);
  const content = {
    ...(answer !== undefined && json(answer, components)),
    ...Object.fromEntries(media.map((type) => [type, { schema: { type: 'string' } }])),
  };
  const hasContent = answer !== undefined || media.length > 0;
  return {
    ...(hasContent && { 200: { description: 'Done', headers, content } }),
    ...(doc.answer === undefined && media.length === 0 && { 204: { description: 'Done', headers } }),
    ...(takes(route, 'online') && { 202: accepted(headers, components) }),
    ...(validated && { 304: { description: 'What If-None-Match names is still right', headers } }),
  };
}

const accepted = (headers: JsonSchema, components: Components) => ({
  description: 'Asked for online: it is prepared first, and this is the change request',
  headers: { ...headers, Location: { description: 'Of the change request', schema: { type: 'string' } } },
  content: json(data(changeRequest), components),
});

const json = (shape: z.ZodType, components: Components) => ({
  'application/json': { schema: components.schemaOf(shape, 'output') },
});

/** The JSON of 200: also what is answered instead of a change that is only planned. */
function answerOf(route: Route, { answer, rehearsal = plan }: OperationDoc): z.ZodType | undefined {
  if (!takes(route, 'dry_run') || answer === rehearsal) return answer;
  return answer === undefined ? rehearsal : z.union([answer, rehearsal]);
}

const takes = ({ query }: Route, parameter: 'online' | 'dry_run'): boolean =>
  query instanceof z.ZodObject && parameter in query.shape;

function refusals(route: Route, { refuses = [], changes }: OperationDoc): Responses {
  const codes = new Set<ErrorCode>([...codesOf(route), ...(changes ? CHANGE_CODES : []), ...refuses]);
  const statuses = [...new Set([...codes].map((code) => STATUS[code]))].sort((a, b) => a - b);
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/${nameOf(status)}` }]));
}

const CHANGE_CODES: readonly ErrorCode[] = [
  'ALREADY_EXISTS',
  'PRECONDITION_FAILED',
  'DATABASE_REFUSED',
  'LOCK_TIMEOUT',
  'IN_USE',
  'ONLINE_NOT_POSSIBLE',
  'POLICY_REFUSED',
];

/** Codes that every route of this kind may return. */
function codesOf({ path, access, body, needsPrimary }: Route): ErrorCode[] {
  return [
    'INVALID_QUERY',
    'NOT_ACCEPTABLE',
    'INTERNAL',
    'UNAVAILABLE',
    'OVERLOADED',
    ...(needsPrimary ? (['READ_ONLY'] as const) : []),
    ...(access === 'anyone' ? [] : (['UNAUTHENTICATED', 'DIVERGED', 'TOO_MANY_REQUESTS'] as const)),
    ...(access === 'anyone' || access === 'reader' ? [] : (['FORBIDDEN'] as const)),
    ...(path.includes(':') ? (['NOT_FOUND'] as const) : []),
    ...(body === undefined
      ? []
      : (['INVALID_PAYLOAD', 'CONTENT_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'REQUEST_TIMEOUT'] as const)),
  ];
}

/** `NotFound` */
const nameOf = (status: number): string => (STATUS_CODES[status] ?? `Status ${status}`).replaceAll(/[^A-Za-z]/g, '');

/** One component per error status, with its codes. */
export function refusalResponses(components: Components): Responses {
  const schema = components.schemaOf(errors, 'output');
  const statuses = [...new Set(Object.values(STATUS))];
  return Object.fromEntries(
    statuses.map((status) => {
      const codes = Object.keys(STATUS).filter((code) => STATUS[code as ErrorCode] === status);
      return [nameOf(status), { description: codes.join(', '), content: { 'application/json': { schema } } }];
    }),
  );
}
