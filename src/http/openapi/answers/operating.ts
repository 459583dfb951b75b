import { z } from 'zod';
import { PROJECTION_NAMES } from '../../../projector/replay.js';
import { LEVELS } from '../../../schema/findings/model.js';
import { policy, policyBody, OUTCOMES } from '../../policy.js';
import { errors, acknowledge } from './envelopes.js';
import { plannedEvent } from './history.js';
import { finding, objectName } from './schema.js';

const text = z.string();
const textOrNull = z.string().nullable();
const position = z.int().min(0);
const json = z.unknown();
const projectionName = z.enum(PROJECTION_NAMES);

export const info = z
  .strictObject({
    release: text,
    vendor: text,
    database_version: text,
    position,
    hash: text,
    objects: z.literal(true).optional().describe('Only with `OBJECTS=on`'),
  })
  .meta({ id: 'Info' });

const check = z.strictObject({ ok: z.boolean(), message: text.optional() });

export const live = z.strictObject({ status: z.literal('ok') });

export const health = z
  .strictObject({
    status: z.enum(['ok', 'error']),
    checks: z.strictObject({ database: check, log: check, projections: check }),
    load: z
      .strictObject({
        overloaded: z.boolean().describe('Requests were rejected with `OVERLOADED` in the last 10 seconds'),
        waiting: z.int().describe('Number of queued tasks'),
        answer_bytes: z.int().describe('Size of responses that are complete and not yet sent'),
      })
      .describe('Does not affect the status'),
  })
  .meta({ id: 'Health' });

export const examination = z
  .strictObject({
    ok: z.boolean().describe('No check failed. There may be warnings'),
    checks: z.array(
      z.strictObject({
        name: text,
        result: z
          .enum(['ok', 'warning', 'error', 'skipped'])
          .describe('`skipped`: an earlier finding prevents the check, or it needs a primary'),
        findings: z.array(
          z.strictObject({ code: text, severity: z.enum(['error', 'warning']), message: text, fix: text }),
        ),
      }),
    ),
  })
  .meta({ id: 'Examination' });

export const projection = z
  .strictObject({
    name: projectionName,
    kind: z.enum(['transactional', 'after-commit']),
    position,
    lag: z.int().min(0),
    status: z.enum(['running', 'failed']),
    last_error: z
      .strictObject({
        position,
        event: z.strictObject({ type: text, occurred_at: text, actor: textOrNull }).nullable(),
        collection: text,
        field: textOrNull,
        sqlstate: textOrNull,
        message: text,
        attempts: z.int(),
        next: text.describe('The next step'),
      })
      .nullable(),
    updated_at: z.iso.datetime().nullable(),
    rebuilding: z
      .strictObject({
        since: z.iso.datetime(),
        done: z.number().min(0).max(1).nullable().describe('Progress. Null if unknown'),
      })
      .nullable()
      .describe('A rebuild that runs in this process'),
  })
  .meta({ id: 'Projection' });

const difference = {
  member: text,
  expected: json.describe('The value in the log. Null if the object does not exist there'),
  found: json.describe('The value in the database. Null if the object does not exist there'),
};

const differences = z.array(
  z.strictObject({
    where: z.enum(['metadata', 'catalog', 'trash', 'changes', 'accounts']),
    collection: text,
    field: text.optional(),
    object: z.strictObject({ kind: text, id: text }).optional().describe('A view, function or other object'),
    ...difference,
  }),
);

export const verification = z.strictObject({ ok: z.boolean(), position, differences }).meta({ id: 'Verification' });

const count = z.int().min(0).optional();

/** The members depend on the projection. */
export const rebuilt = z
  .strictObject({
    name: projectionName,
    position,
    collections: count,
    fields: count,
    relations: count,
    changes: count,
    entries: count,
    replaced: count,
    milliseconds: z.number().optional(),
    locked_milliseconds: z.number().optional(),
    made: z.array(text).optional(),
    left: z.array(z.strictObject({ statement: text, reason: text })).optional(),
    differences: differences.optional(),
    lag: count,
  })
  .meta({ id: 'Rebuilt' });

const repairEvent = plannedEvent.omit({ version: true });

const repairStatement = z.strictObject({
  sql: text,
  summary: text,
  drops: z.boolean(),
  inherited_by: z.array(text).optional().describe('The tables that inherit the dropped column, and lose it too'),
});

export const drift = z
  .strictObject({
    position,
    ok: z.boolean(),
    tables: z.array(
      z.strictObject({
        table: text,
        kind: z.enum(['missing', 'different', 'not wanted']),
        renamed_to: text.optional(),
        differences: z.array(
          z.strictObject({
            field: text.optional(),
            ...difference,
            renamed_to: text.optional(),
            repair: z.strictObject({
              database: z.array(repairStatement),
              log: z.array(repairEvent),
            }),
          }),
        ),
      }),
    ),
    unmanaged: z.array(text).describe('Unmanaged tables'),
    unmanaged_tables: z
      .array(
        z.strictObject({
          table: text,
          rows: z.number().nullable().describe('Estimated from the PostgreSQL statistics, with the partitions'),
          partition_of: text.optional(),
        }),
      )
      .describe('Unmanaged tables in managed schemas'),
    objects: z
      .array(
        z.strictObject({
          object: objectName,
          kind: z.enum(['missing', 'different']),
          differences: z.array(z.strictObject(difference)),
          repair: z.strictObject({ database: z.array(repairStatement), log: z.array(repairEvent) }),
        }),
      )
      .optional()
      .describe('Views, functions and other objects that differ. Only with `OBJECTS=on`'),
    unmanaged_objects: z
      .array(objectName)
      .optional()
      .describe('Unmanaged views, functions and other objects. Only with `OBJECTS=on`'),
  })
  .meta({ id: 'Drift' });

const note = z.strictObject({ table: textOrNull, kind: text, name: text, code: text, message: text });

export const acceptance = z
  .strictObject({
    dry_run: z.literal(true).optional(),
    changed: z.array(text),
    deleted: z.array(text),
    renamed: z.array(z.strictObject({ from: text, to: text })),
    renamed_fields: z.array(z.strictObject({ collection: text, from: text, to: text })),
    not_accepted: z.array(
      z.strictObject({
        collection: text,
        field: text.optional(),
        object: objectName.optional(),
        code: text,
        message: text,
      }),
    ),
    not_represented: z.array(note),
    objects: z
      .strictObject({ changed: z.array(objectName), deleted: z.array(objectName) })
      .optional()
      .describe('Only with `OBJECTS=on`'),
    events: z.array(plannedEvent).optional().describe('With `dry_run` or `explain`'),
    warnings: z.array(finding).optional().describe('With `dry_run` or `explain`: findings that the policy rejects'),
  })
  .meta({ id: 'Acceptance' });

export const adoption = z
  .strictObject({
    dry_run: z.literal(true).optional(),
    adopted: z.array(text),
    relations: z.int().min(0),
    refused: z.array(z.strictObject({ table: text, object: objectName.optional(), code: text, message: text })),
    not_represented: z.array(note),
    objects: z.array(objectName).optional().describe('Only with `OBJECTS=on`'),
    events: z.array(plannedEvent).optional().describe('With `dry_run` or `explain`'),
    warnings: z.array(finding).optional().describe('With `dry_run` or `explain`: findings that the policy rejects'),
  })
  .meta({ id: 'Adoption' });

export const plan = z
  .strictObject({
    accepted: z.boolean().nullable().describe('True if PostgreSQL accepted it. Null if it was not executed'),
    errors: errors.shape.errors.optional(),
    events: z.array(plannedEvent),
    statements: z.array(
      z.strictObject({
        sql: text,
        summary: text,
        lock: text.describe('The strongest lock level, by its name in PostgreSQL'),
        loses_data: z.boolean(),
        rewrites_table: z.boolean(),
        may_fail: z.boolean(),
        event: z.int().min(0).describe('Index of its event'),
        collection: text,
        field: textOrNull,
      }),
    ),
    warnings: z.array(finding),
    tables: z
      .array(
        z.strictObject({
          table: text,
          lock: text.describe('The strongest lock level on the table, by its name in PostgreSQL'),
          rows: z.number().nullable().describe('Estimated from the PostgreSQL statistics. Null if not yet known'),
          bytes: z.number().nullable().describe('From the same statistics, without indexes'),
          empty: z
            .literal(true)
            .optional()
            .describe('The change deletes the table or values in it, and the table has no rows'),
        }),
      )
      .optional()
      .describe('Existing tables that are locked'),
    optional: z
      .array(text)
      .optional()
      .describe('For a restore: the constraints, indexes and privileges that `without` may name'),
    online: z
      .strictObject({
        collections: z.array(text).describe('Collections whose tables no other change can alter until it has ended'),
        steps: z.array(
          z.strictObject({
            kind: text,
            collection: text,
            field: textOrNull,
            summary: text,
            rows: z.number().nullable(),
            bytes: z.number().nullable(),
          }),
        ),
      })
      .optional()
      .describe(
        'Steps that are executed first, while the tables stay in use. PostgreSQL has then executed nothing yet',
      ),
    proof: z
      .strictObject({
        differences: differences.describe('Differences between the log and the database that did not exist before'),
        properties: z
          .array(
            z.strictObject({
              object: text.describe('The type and the name of the object in PostgreSQL'),
              property: text,
              before: textOrNull.describe('Null if the object did not have the property'),
              after: textOrNull.describe('Null if the object no longer has the property'),
            }),
          )
          .describe('Properties that the log does not describe, and that the change altered'),
      })
      .optional()
      .describe('With `prove`, if PostgreSQL accepted the change'),
  })
  .meta({ id: 'Plan' });

export const policyAt = z.strictObject({
  data: policy,
  meta: z.strictObject({
    position: z.int().min(0).describe('Position of the event that set it. 0 for the default policy'),
    updated_at: z.iso.datetime().nullable(),
    codes: z
      .array(z.strictObject({ code: z.string(), title: z.string(), level: z.enum(LEVELS), shown_only: z.boolean() }))
      .describe('All codes that a policy may contain. `shown_only`: off, note or warn'),
  }),
});

export const policyTestBody = z.strictObject({
  diff: z.looseObject({}).optional().describe('With its hash, as returned by /schema/diff'),
  snapshot: z.looseObject({}).optional().describe('Instead of a diff'),
  policy: policyBody.optional().describe('A policy to test instead of the current one'),
  acknowledge,
});

export const policyTest = z
  .strictObject({
    outcome: z.enum(OUTCOMES).describe('The strictest action that a finding requires'),
    approvals: z.int().min(1).nullable().describe('Number of required approvals, if any'),
    findings: z.array(finding),
  })
  .meta({ id: 'PolicyTest' });
