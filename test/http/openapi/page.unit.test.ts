import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { PAGE_POLICY, pageOf } from '../../../src/http/openapi/page.js';
import { createTranscript } from '../../support/transcript.js';

const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const item = { $ref: '#/components/schemas/Item' };

/** One of each that is rendered specially. */
const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'A & B', description: 'Of "a" < b.' },
  tags: [{ name: 'items', description: 'All <items>' }],
  paths: {
    '/items/{id}': {
      get: {
        operationId: 'getItem',
        tags: ['items'],
        summary: 'One & only',
        description: 'Requires no token.',
        parameters: [],
        responses: {
          200: { description: 'Done', ...json({ type: 'array', items: item }) },
          204: { description: 'Nothing' },
          400: { $ref: '#/components/responses/BadRequest' },
        },
      },
      patch: {
        operationId: 'updateItem',
        tags: ['items'],
        summary: 'Update',
        description: '',
        parameters: [{ name: 'id', in: 'path', schema: { type: 'string', format: 'uuid' }, description: '<id>' }],
        requestBody: { content: { ...json({ anyOf: [item, { type: 'null' }] }).content, 'application/yaml': {} } },
        responses: { 200: { description: 'Done', content: { 'text/plain': {} } } },
      },
    },
  },
  components: {
    responses: { BadRequest: { description: 'INVALID' } },
    schemas: {
      Item: {
        description: 'A <b>',
        properties: { a: { const: 'x' }, b: { enum: [1, 2], description: 'Which' } },
        required: ['a'],
        examples: [{ a: 'x' }, { a: 'y' }],
      },
      Nested: {
        properties: {
          few: { properties: { a: {}, b: { type: 'integer' } }, required: ['b'] },
          most: { properties: { a: {}, b: {}, c: {}, d: {} } },
          more: { properties: { a: {}, b: {}, c: {}, d: {}, e: {} } },
          same: { oneOf: [{ type: 'string' }, { type: 'string' }] },
          maybe: { type: ['string', 'null'], format: 'date-time' },
        },
      },
      Any: {},
    },
  },
};

describe('the page of the OpenAPI document', () => {
  it('shows the whole document with HTML escaped', async () => {
    const transcript = createTranscript('api-page.html');
    transcript.add(pageOf(DOCUMENT).trimEnd());
    await transcript.expectAsBefore();
  });

  it('may use its own style and nothing else', () => {
    const [, style = ''] = pageOf(DOCUMENT).match(/<style>(.*)<\/style>/s) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(PAGE_POLICY).equal(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
  });
});
