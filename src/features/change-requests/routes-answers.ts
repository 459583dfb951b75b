import { z } from 'zod';
import { WHY_NOT } from '../../schema/change-requests/approvals.js';
import { CHANGE_STATES, changePlace } from '../../schema/change-requests/model.js';
import { CHANGE_ACTIONS } from '../../schema/change-requests/fold.js';
import { policy } from '../../http/policy.js';
import { actor } from '../../http/openapi/answers/history.js';
import { errors } from '../../http/openapi/answers/envelopes.js';
import { plan } from '../../http/openapi/answers/operating.js';
import { schemaChanges } from '../../schema/normal-form/shapes.js';
import { finding, objectName } from '../../http/openapi/answers/schema.js';

const text = z.string();
const textOrNull = z.string().nullable();
const time = z.iso.datetime();

const summary = {
  id: z.uuid(),
  state: z
    .enum(CHANGE_STATES)
    .describe(
      '`open`, `approved`, `rejected`: in review. `scheduled`: applied at its time. `queued`: waiting for another request on the same tables. `applied`, `failed` and `withdrawn` are final. A proposed request that failed can be applied again',
    ),
  title: textOrNull.describe('Null if nobody proposed it, and it is applied as soon as it is prepared'),
  operation: text.describe('The command, by its name in the log'),
  online: z.boolean().describe('True if slow steps are executed first'),
  collections: z.array(text).describe('The collections that it changes'),
  plan: textOrNull.describe('The hash of its plan, which approvals refer to'),
  author: actor,
  reason: textOrNull,
  opened_at: time,
  opened_position: z.int().min(1).describe('Position of the event that opened it'),
  changed_at: time,
  scheduled_at: time.nullable().describe('When it is applied. Null if it is not scheduled'),
  reverts: z.uuid().nullable().describe('The change request that it reverts'),
  result: z
    .strictObject({ batch: z.uuid(), position: z.int().min(1) })
    .nullable()
    .describe('The batch of its change'),
  error: textOrNull.describe('The code of the first error. Null if it did not fail'),
};

export const changeSummary = z.strictObject(summary).meta({ id: 'ChangeSummary' });

const holder = z.strictObject({
  pid: z.int().nullable().describe('Process id in PostgreSQL. Null for a prepared transaction'),
  application_name: text,
  age_seconds: z.int().nullable(),
  collection: text.optional(),
  object: objectName.optional().describe('Present instead of `collection` if the lock is on another kind of object'),
});

const step = z.strictObject({
  key: text,
  kind: text,
  collection: text,
  field: textOrNull,
  summary: text,
  state: z.enum(['waiting', 'running', 'done']),
  done: z.number().min(0).max(1).nullable().describe('Progress. Null if unknown'),
  phase: textOrNull.describe('The current step'),
  rows: z.number().nullable().describe('The size of the work, as estimated by the PostgreSQL statistics'),
  bytes: z.number().nullable(),
  started_at: time.nullable(),
  milliseconds: z.number().nullable().describe('Duration including waits. Null if not finished'),
});

const allowed = z
  .array(z.enum(CHANGE_ACTIONS))
  .describe('Actions that are allowed now, for users with the required role');

export const actedOn = z.strictObject({ ...summary, allowed }).meta({ id: 'ChangeActedOn' });

const returns = z
  .array(
    z.strictObject({
      collection: text,
      field: textOrNull.describe('Null for the table itself'),
      position: z.int().min(1).describe('Position of the deletion'),
      kept_until: time.nullable().describe('The trash keeps it at least until then. Null if no longer known'),
    }),
  )
  .describe('Objects that are restored from the trash with their rows');

export const reverting = z.strictObject({ ...summary, allowed, returns }).meta({ id: 'ChangeReverting' });

const members = {
  by: actor,
  at: time,
  position: z.int().min(1),
  text: textOrNull.describe('Null if there is none, or if it was erased'),
};
const proposal = z.strictObject({
  base: z.int().min(0).describe('Position of the schema that it was created for'),
  approvals_needed: z.int().min(1).describe('Places for which the policy requires an approval'),
  approvals_counted: z.int().min(0),
  author_may_approve: z.boolean(),
  authors: z
    .array(actor)
    .describe(
      'The user who opened it, everyone who changed its plan, and other users who issued the tokens or set the passwords that they used',
    ),
  described_at: time.nullable().describe('When its title or reason was last changed. Null if never changed'),
  approvals: z.array(
    z.strictObject({
      ...members,
      plan: text,
      online: z.boolean().describe('True if the request was an online change at that time'),
      credential: z.enum(['password', 'token', 'identity']).describe('How the user was authenticated'),
      counts: z.boolean(),
      why_not: z
        .enum(WHY_NOT)
        .nullable()
        .describe(
          '`another way`: `online` has been changed since. `an issued credential`: according to the log, another user issued the token or set the password',
        ),
    }),
  ),
  rejection: z.strictObject(members).nullable(),
  comments: z.array(
    z.strictObject({
      ...members,
      place: changePlace
        .nullable()
        .describe('The change that the comment is about. An update may have removed it. Null for the whole request'),
    }),
  ),
});
const planned = z.strictObject({
  fresh: z.boolean().describe('False if the request is stale, because its effect on the current schema has changed'),
  hash: textOrNull.describe('The hash of the current plan. Null if it no longer fits the schema'),
  errors: errors.shape.errors.nullable(),
  diff: schemaChanges.nullable(),
  policy: z
    .strictObject({ from: policy, to: policy })
    .nullable()
    .describe('The current policy and the proposed one. Null if it changes the schema'),
  statements: plan.shape.statements,
  tables: plan.shape.tables.unwrap().describe('Existing tables that are locked'),
  findings: z.array(finding),
  loses: z
    .array(
      z.strictObject({
        collection: text,
        field: textOrNull,
        kept: z.boolean().describe('The trash keeps it for a limited time'),
        why_not: textOrNull.describe('The reason why the trash cannot keep it. Null if the trash keeps it'),
      }),
    )
    .describe('Objects that are deleted'),
  view: textOrNull.describe('The hash of `online`, the findings and what is kept, for `view` of an approval'),
  returns,
});

export const changeRequest = z
  .strictObject({
    ...summary,
    document: z.strictObject({
      hash: text.describe('The sha256 hash of the content as canonical JSON, as stored in the event'),
      content: z.unknown().describe('The proposed change. Null if erased'),
    }),
    steps: z.array(step),
    holds: z.array(text).describe('Collections whose tables no other change can alter until it has ended'),
    queued_behind: z.array(z.uuid()),
    waiting_for: z.array(holder).describe('Sessions whose transactions it waits for'),
    cleaning: z.boolean().describe('It has ended, and the service is still removing its prepared objects'),
    warnings: z.array(finding),
    errors: errors.shape.errors
      .nullable()
      .describe('The errors with which it failed. Null if it did not fail, or the errors were erased'),
    allowed,
    proposal: proposal.nullable(),
    planned: planned
      .nullable()
      .optional()
      .describe('The plan against the current schema. Null if the request has ended'),
  })
  .meta({ id: 'ChangeRequest' });
