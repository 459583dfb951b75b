import { expect } from 'chai';
import { z } from 'zod';
import { shapeMessage } from '../../src/kernel/shape-messages.js';

const EITHER = z.discriminatedUnion('kind', [z.object({ kind: z.literal('a') }), z.object({ kind: z.literal('b') })]);

const SAID: [z.ZodType, unknown, string][] = [
  [z.string(), undefined, 'is required.'],
  [z.enum(['a', 'b']), undefined, 'is required.'],
  [z.string(), 1, 'must be a string.'],
  [z.number(), 'a', 'must be a number.'],
  [z.int(), 1.5, 'must be an integer.'],
  [z.boolean(), 'a', 'must be true or false.'],
  [z.array(z.string()), {}, 'must be an array.'],
  [z.object({}), [], 'must be an object.'],
  [z.record(z.string(), z.string()), 1, 'must be an object.'],
  [z.null(), 1, 'must be null.'],
  [z.enum(['a', 'b']), 'c', 'must be one of a, b.'],
  [z.literal(1), 2, 'must be 1.'],
  [EITHER, { kind: 'c' }, 'must be one of a, b.'],
  [EITHER, {}, 'must be one of a, b.'],
  [z.string().min(1), '', 'must have at least 1 character.'],
  [z.string().min(2), '', 'must have at least 2 characters.'],
  [z.string().max(2), 'abc', 'must have at most 2 characters.'],
  [z.array(z.int()).max(1), [1, 2], 'must have at most 1 item.'],
  [z.number().min(0), -1, 'must be at least 0.'],
  [z.number().max(10), 11, 'must be at most 10.'],
  [z.email(), 'a', 'must be an e-mail address.'],
  [z.uuid(), 'a', 'must be a UUID.'],
  [z.string({ error: 'is what it says.' }), 1, 'is what it says.'],
  // Without its own message, zod's message is used.
  [z.set(z.string()), 1, 'Invalid input: expected set, received number'],
];

describe('validation messages', () => {
  for (const [shape, value, message] of SAID) {
    it(message, () => {
      const { error } = shape.safeParse(value, { error: shapeMessage });
      expect(error?.issues.map((issue) => issue.message)).to.deep.equal([message]);
    });
  }
});
