/** The headers that requests and answers carry beside their bodies. */
import type { JsonSchema } from './components.js';

interface Header {
  description: string;
  schema: JsonSchema;
}

const text: JsonSchema = { type: 'string' };

/** Of requests that change the schema. */
const CHANGE_PARAMETERS: Readonly<Record<string, Header>> = {
  'Idempotency-Key': {
    description: 'Sent again by the same caller within 24 hours, it gets the first answer, and nothing is done twice',
    schema: { ...text, minLength: 1, maxLength: 255 },
  },
  'If-Match': { description: 'The hash that the schema must have: 412 when it has moved', schema: text },
  'X-Reason': { description: 'Why: kept with the events', schema: { ...text, maxLength: 1000 } },
};

export const HEADERS: Readonly<Record<string, Header>> = {
  'X-Request-Id': { description: 'The one of the request where it is sane, or a new one', schema: text },
  'X-Log-Position': { description: 'The position of the log that the answer reflects', schema: { type: 'integer' } },
  'X-Batch-Id': {
    description: 'The batch that the change became; absent when nothing was to be changed',
    schema: { ...text, format: 'uuid' },
  },
};

const refs = (...names: (keyof typeof HEADERS)[]) => ({
  headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
});

export const ANSWER_HEADERS = refs('X-Request-Id');
export const CHANGE_HEADERS = refs('X-Request-Id', 'X-Log-Position', 'X-Batch-Id');

export const changeParameters = (): object[] =>
  Object.entries(CHANGE_PARAMETERS).map(([name, header]) => ({ name, in: 'header', required: false, ...header }));
