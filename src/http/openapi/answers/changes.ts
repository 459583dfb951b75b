import { z } from 'zod';
import { CHANGE_STATES } from '../../../schema/change-requests/model.js';
import { CHANGE_ACTIONS } from '../../../schema/change-requests/fold.js';
import { policy } from '../../policy.js';
import { errors } from './envelopes.js';
import { plan } from './operating.js';
import { schemaChanges } from '../../../schema/normal-form/shapes.js';
import { finding } from './schema.js';

const text = z.string();
const textOrNull = z.string().nullable();
const time = z.iso.datetime();

const summary = {
  id: z.uuid(),
  state: z
    .enum(CHANGE_STATES)
    .describe(
      '`open`, `approved`, `rejected`: people talk about it. `scheduled`: it is applied at its time. `queued`: another request has its tables. `applied`, `failed` and `withdrawn` are ends; what people proposed and failed can be tried again',
    ),
  title: textOrNull.describe('Null: nobody is asked, it is applied once it is prepared'),
  operation: text.describe('What it wants to do, as the log names commands'),
  online: z.boolean().describe('What takes long of it is prepared first'),
  collections: z.array(text).describe('What it changes'),
  plan: textOrNull.describe('The hash of its plan: what is approved'),
  author: z.strictObject({ id: text, name: text }),
  reason: textOrNull,
  opened_at: time,
  opened_position: z.int().min(1).describe('Of the event that opened it'),
  changed_at: time,
  scheduled_at: time.nullable().describe('When it is applied; null: it has no time'),
  reverts: z.uuid().nullable().describe('The change request whose change it takes back'),
  result: z
    .strictObject({ batch: z.uuid(), position: z.int().min(1) })
    .nullable()
    .describe('The batch that it became'),
  error: textOrNull.describe('The code of the first error; null: it did not fail'),
};

export const changeSummary = z.strictObject(summary).meta({ id: 'ChangeSummary' });

const holder = z.strictObject({
  pid: z.int().nullable().describe('Of its server process; null: a prepared transaction'),
  application_name: text,
  age_seconds: z.int().nullable(),
  collection: text,
});

const step = z.strictObject({
  key: text,
  kind: text,
  collection: text,
  field: textOrNull,
  summary: text,
  state: z.enum(['waiting', 'running', 'done']),
  done: z.number().min(0).max(1).nullable().describe('How much of it; null: not known'),
  phase: textOrNull.describe('What of it runs now'),
  rows: z.number().nullable().describe("What it works through, as PostgreSQL's statistics estimate it"),
  bytes: z.number().nullable(),
  started_at: time.nullable(),
  milliseconds: z.number().nullable().describe('What it has taken with all that it waited for; null: it is not done'),
});

const allowed = z.array(z.enum(CHANGE_ACTIONS)).describe('What can be done with it now, by those who may');

export const actedOn = z.strictObject({ ...summary, allowed }).meta({ id: 'ChangeActedOn' });

const returns = z
  .array(
    z.strictObject({
      collection: text,
      field: textOrNull.describe('Null: the table'),
      position: z.int().min(1).describe('Of the deletion'),
      kept_until: time.nullable().describe('Until when the trash has it at least; null: not known any more'),
    }),
  )
  .describe('What comes back from the trash, with its rows');

export const reverting = z.strictObject({ ...summary, allowed, returns }).meta({ id: 'ChangeReverting' });

const actor = z.strictObject({ id: text, name: text });
const said = {
  by: actor,
  at: time,
  position: z.int().min(1),
  text: textOrNull.describe('Null: nothing was said, or it was erased'),
};
const proposal = z.strictObject({
  base: z.int().min(0).describe('Position of the schema that it was made for'),
  approvals_needed: z.int().min(1).describe('Where the policy asks for approval of what it does'),
  approvals_counted: z.int().min(0),
  author_may_approve: z.boolean(),
  authors: z.array(actor).describe('Its author, and everyone who has changed what it asks for'),
  described_at: time.nullable().describe('When its title or reason was last changed; null: never'),
  approvals: z.array(
    z.strictObject({
      ...said,
      plan: text,
      online: z.boolean().describe('The request was to be prepared online then'),
      credential: z.enum(['password', 'token']).describe('What the person had signed in with'),
      counts: z.boolean(),
      why_not: z
        .enum(['another plan', 'another way', 'no longer an admin', 'the author'])
        .nullable()
        .describe('`another way`: `online` was changed since'),
    }),
  ),
  rejection: z.strictObject(said).nullable(),
  comments: z.array(z.strictObject(said)),
});
const planned = z.strictObject({
  fresh: z.boolean().describe('It would still do what was proposed; else it is stale'),
  hash: textOrNull.describe('Of what it would do now; null: it does not fit the schema any more'),
  errors: errors.shape.errors.nullable(),
  diff: schemaChanges.nullable(),
  policy: z
    .strictObject({ from: policy, to: policy })
    .nullable()
    .describe('The policy in force and the one to set; null: it changes the schema'),
  statements: plan.shape.statements,
  tables: plan.shape.tables.unwrap().describe('The tables that exist now and are locked'),
  findings: z.array(finding),
  loses: z
    .array(
      z.strictObject({
        collection: text,
        field: textOrNull,
        kept: z.boolean().describe('The trash keeps it for a limited time'),
        why_not: textOrNull.describe('Why the trash cannot keep it; null: it is kept'),
      }),
    )
    .describe('What is deleted'),
  returns,
});

export const changeRequest = z
  .strictObject({
    ...summary,
    document: z.strictObject({
      hash: text.describe('sha256 of the content as canonical JSON: the event carries it'),
      content: z.unknown().describe('What it asks for; null: it was erased'),
    }),
    steps: z.array(step),
    holds: z.array(text).describe('Collections whose tables change in no other way now'),
    queued_behind: z.array(z.uuid()),
    waiting_for: z.array(holder).describe('Whose transactions it waits for now'),
    cleaning: z.boolean().describe('It has ended, and what was prepared is still being taken away'),
    warnings: z.array(finding),
    errors: errors.shape.errors.nullable().describe('Why it failed; null: it did not, or what says so was erased'),
    allowed,
    proposal: proposal.nullable(),
    planned: planned.nullable().optional().describe('What it would do to the schema now; null: it has ended'),
  })
  .meta({ id: 'ChangeRequest' });
