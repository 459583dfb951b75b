/** Schema of extras in event payloads, version 1. */
import { z } from 'zod';

const text = z.string();
const yes = z.literal(true);

const sequenceOptions = {
  type: z.enum(['smallint', 'integer', 'bigint']).optional(),
  start: text.optional(),
  increment: text.optional(),
  min: text.optional(),
  max: text.optional(),
  cache: text.optional(),
  cycle: yes.optional(),
};

export const columnExtrasV1 = z.strictObject({
  precision: z.int().min(0).max(6).optional(),
  collation: text.optional(),
  default: text.optional(),
  identity: z.literal('always').optional(),
  virtual: yes.optional(),
  sequence: z.strictObject({ name: text.optional(), ...sequenceOptions }).optional(),
  primary_key_name: text.optional(),
  unique_name: text.optional(),
  index_name: text.optional(),
  not_null_name: text.optional(),
});

const named = z.strictObject({ name: text, definition: text });

const need = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('extension'), name: text }),
  z.strictObject({
    kind: z.literal('collation'),
    name: text,
    provider: z.enum(['libc', 'icu', 'builtin']),
    locale: text.optional(),
    lc_collate: text.optional(),
    lc_ctype: text.optional(),
    deterministic: z.literal(false).optional(),
    rules: text.optional(),
  }),
  z.strictObject({ kind: z.literal('enum'), name: text, labels: z.array(text) }),
  z.strictObject({
    kind: z.literal('domain'),
    name: text,
    type: text,
    collation: text.optional(),
    not_null: yes.optional(),
    default: text.optional(),
    checks: z.array(named).optional(),
  }),
  z.strictObject({ kind: z.literal('sequence'), name: text, owned_by: text.optional(), ...sequenceOptions }),
]);

export const tableExtrasV1 = z.strictObject({
  primary_key: z.strictObject({ name: text, columns: z.array(text), definition: text.optional() }).optional(),
  constraints: z.array(named.extend({ references: text.optional() })).optional(),
  indexes: z.array(named.extend({ unique: yes.optional() })).optional(),
  partition_by: text.optional(),
  partition_of: z.strictObject({ table: text, bound: text }).optional(),
  needs: z.array(need).optional(),
  unmanaged: z
    .array(z.strictObject({ kind: z.enum(['constraint', 'index', 'default', 'generated']), name: text }))
    .optional(),
});
