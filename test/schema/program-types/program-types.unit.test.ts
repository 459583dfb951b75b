/** A schema with a field of every type as type definitions, compared with `test/fixtures/program-types.txt`. */
import { FIELD_TYPES } from '../../../src/schema/normal-form/types/field-types.js';
import { LANGUAGES, programTypes } from '../../../src/schema/program-types.js';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { exampleSchema } from '../../support/answers.js';
import { accept } from '../../support/given.js';
import { createTranscript } from '../../support/transcript.js';

const FLOW = { concurrentIndexes: false };

describe('a schema as type definitions', () => {
  it('matches the recorded text', async () => {
    const fields = FIELD_TYPES.filter((type) => type !== 'alias' && type !== 'unknown').flatMap((type) => [
      { field: `a ${type}`, type, interface: 'input', meta: { note: `of */ ${type}` } },
      { field: `required_${type}`, type, interface: 'input', schema: { is_nullable: false } },
    ]);
    const odd = [
      { field: 'presentation', type: 'alias', interface: 'x', schema: null },
      { field: 'span', type: 'unknown', interface: 'x', schema: { data_type: 'int4range' } },
      { field: "it's", type: 'string', interface: 'input' },
      { field: 'item', type: 'string', interface: 'input' },
      { field: 'kind', type: 'string', interface: 'input' },
    ];
    let state = exampleSchema();
    const body = { collection: 'all types', schema: {}, meta: { note: 'Every\ntype' }, fields: [...fields, ...odd] };
    state = accept(state, 'create-collection', { body, ...FLOW });
    state = accept(state, 'create-collection', {
      body: { collection: 'only', schema: {}, meta: { singleton: true } },
      ...FLOW,
    });
    state = accept(state, 'create-relation', {
      body: {
        collection: 'all types',
        field: 'item',
        related_collection: null,
        meta: { one_allowed_collections: ['posts', 'only'], one_collection_field: 'kind' },
        schema: null,
      },
    });
    state = accept(state, 'update-relation', {
      collection: 'posts',
      field: 'author',
      body: { meta: { one_field: null } },
    });
    const transcript = createTranscript('program-types.txt');
    for (const language of LANGUAGES) transcript.add(runToEnd(programTypes(state, language, '0.1.0')).toString());
    await transcript.expectAsBefore();
  });
});
