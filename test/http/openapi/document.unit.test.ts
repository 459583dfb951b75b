import { expect } from 'chai';
import { dump } from 'js-yaml';
import { z } from 'zod';
import { createComponents } from '../../../src/http/openapi/json-schema.js';
import { documentOfRoutes } from '../../support/openapi.js';
import { createTranscript } from '../../support/transcript.js';

describe('the OpenAPI document', () => {
  it('matches the recorded document', async () => {
    const { info, ...document } = documentOfRoutes();
    const transcript = createTranscript('openapi.yaml');
    // JSON omits undefined members like a response. A line is a parameter, a response, or a member of a shape.
    const output: unknown = JSON.parse(
      JSON.stringify({ ...document, info: { ...(info as object), version: '0.0.0' } }),
    );
    transcript.add(dump(output, { noRefs: true, lineWidth: -1, flowLevel: 5 }).trimEnd());
    await transcript.expectAsBefore();
  });

  it('requires unique shape names', () => {
    const components = createComponents();
    const named = (shape: z.ZodType) => components.schemaOf(shape.meta({ id: 'Name' }), 'output');
    const reference = { $ref: '#/components/schemas/Name' };
    expect([named(z.string()), named(z.string())]).deep.equal([reference, reference]);
    expect(() => named(z.int())).throw('the document has two schemas named Name');
    expect(components.schemas()).deep.equal({ Name: { type: 'string' } });
  });
});
