import { expect } from 'chai';
import { RejectedError, inManagedSchemas } from '../../src/http/errors.js';

const OTHER = { schema: 'other' };

async function messagesOf(body: unknown): Promise<string[]> {
  try {
    expect(await inManagedSchemas(body, ['shop'])).to.equal(body);
    return [];
  } catch (error) {
    if (!(error instanceof RejectedError)) throw error;
    expect(error.problems.map(({ code }) => code)).to.deep.equal(error.problems.map(() => 'INVALID_PAYLOAD'));
    return error.problems.map(({ path, message }) => `${path}: ${message}`);
  }
}

const must = (member: string): string => `${member} must be "shop", the managed schema, or omitted`;

describe('the database schema in a body', () => {
  it('may be the managed one or absent', async () => {
    for (const body of [
      undefined,
      null,
      7,
      'text',
      {},
      { schema: null },
      { schema: 'other' },
      { schema: { schema: 'shop', foreign_key_schema: 'shop' } },
      { schema: { schema: null, foreign_key_schema: 7 } },
      [{ fields: [{ schema: { schema: 'shop' } }] }, 7],
      { meta: { schema: OTHER }, other: [{ schema: OTHER }] },
    ]) {
      expect(await messagesOf(body), JSON.stringify(body)).to.deep.equal([]);
    }
  });

  it('is rejected if it is another one', async () => {
    expect(await messagesOf({ schema: { schema: 'other', foreign_key_schema: 'Shop' } })).to.deep.equal([
      `schema.schema: ${must('schema')}`,
      `schema.foreign_key_schema: ${must('foreign_key_schema')}`,
    ]);
    expect(
      await messagesOf({
        collections: [{ schema: {} }, { schema: OTHER, fields: [{ schema: OTHER }] }],
        fields: [{ schema: OTHER }],
        relations: [{ schema: { foreign_key_schema: 'other' } }],
        diff: { collections: [{ rhs: { schema: OTHER } }], fields: [{ diff: [{ rhs: { schema: OTHER } }] }] },
      }),
    ).to.deep.equal([
      `collections[1].schema.schema: ${must('schema')}`,
      `collections[1].fields[0].schema.schema: ${must('schema')}`,
      `fields[0].schema.schema: ${must('schema')}`,
      `relations[0].schema.foreign_key_schema: ${must('foreign_key_schema')}`,
      `diff.collections[0].rhs.schema.schema: ${must('schema')}`,
      `diff.fields[0].diff[0].rhs.schema.schema: ${must('schema')}`,
    ]);
    expect(await messagesOf([{}, { schema: OTHER }])).to.deep.equal([`[1].schema.schema: ${must('schema')}`]);
    const many = Array.from({ length: 2_000 }, () => ({ schema: OTHER }));
    expect(await messagesOf(many)).to.have.lengthOf(100);
  });
});
