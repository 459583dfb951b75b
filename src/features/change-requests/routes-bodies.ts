import { z } from 'zod';
import { textFault } from '../../kernel/text.js';
import { TIME_RANGE, isStorableTime } from '../../kernel/time.js';
import { INVALID_LOCATION, canonicalLocation } from '../../schema/model/location.js';
import { changePlace } from '../../schema/change-requests/model.js';

/** Maximum lengths in code points. */
const LONGEST = { title: 200, reason: 1_000, comment: 10_000 } as const;

/** Matches control characters that could move the cursor of a terminal. */
const CONTROLS = /(?![\n\t])\p{Cc}/u;

function text(most: number, lines: 'one line' | 'lines') {
  return z
    .string()
    .max(2 * most, { error: `must have at most ${most} characters.`, abort: true })
    .superRefine((value, context) => {
      const fault = faultOf(value, most, lines);
      if (fault !== null) context.addIssue(`${fault}.`);
    });
}

function faultOf(value: string, most: number, lines: 'one line' | 'lines'): string | null {
  if (value.trim() === '') return 'must not be empty';
  const fault = textFault(value);
  if (fault !== null) return fault;
  if (Array.from(value).length > most) return `must have at most ${most} characters`;
  if (lines === 'one line' && /[\n\t]/.test(value)) return 'must be a single line';
  return CONTROLS.test(value) ? 'must not contain control characters' : null;
}

const title = text(LONGEST.title, 'one line');
const reason = text(LONGEST.reason, 'lines').nullable();
const comment = text(LONGEST.comment, 'lines');
const plan = z
  .string()
  .regex(/^[0-9a-f]{64}$/, { error: 'must be the hash of a plan.' })
  .describe('The reviewed plan: the value of `plan` in the request');

const location = z
  .string()
  .max(500)
  .refine((text) => canonicalLocation(text) !== undefined, { error: `${INVALID_LOCATION}.` });

const acknowledgement = z
  .strictObject({ code: z.string().min(1).max(100), place: location })
  .describe(
    'A finding, by its code and place: `articles.title`. In a name, write `%2E` for a dot, `%2C` for a comma, `%25` for a percent sign',
  );

const planMembers = {
  online: z.boolean().optional().describe('Executes slow steps first, while the tables stay in use'),
  purge: z.boolean().optional().describe('Drops deleted objects immediately instead of moving them to the trash'),
  acknowledge: z.array(acknowledgement).max(1_000).optional(),
};

const members = {
  diff: z.unknown().optional().describe('A diff with its hash, as returned by /schema/diff'),
  snapshot: z.unknown().optional().describe('Instead of a diff: the intended schema'),
  policy: z.unknown().optional().describe('Instead of a diff: the new policy, as for PUT /policy. Admins only'),
  base: z
    .unknown()
    .optional()
    .describe('The point in time that the snapshot is based on. Later changes by others are kept'),
  mode: z.enum(['mirror', 'merge'], { error: 'must be mirror or merge.' }).optional().describe('For a snapshot'),
  force: z.boolean().optional().describe('For a snapshot: accept another release, vendor or service'),
};

export const newChange = z.strictObject({ title, reason: reason.optional(), ...members, ...planMembers });
export const changeUpdate = z.strictObject({
  title: title.optional(),
  reason: reason.optional(),
  ...members,
  ...planMembers,
});
export const changeComment = z.strictObject({
  comment,
  place: changePlace
    .optional()
    .describe('The change that the comment is about, by its names in the diff. Default: the whole request'),
});
export const changeApproval = z.strictObject({
  plan,
  view: z
    .string()
    .regex(/^[0-9a-f]{64}$/, { error: 'must be the hash of a view.' })
    .optional()
    .describe('The reviewed findings: the value of `planned.view` in the request. Default: the current findings'),
  comment: comment.optional(),
});
const resolve = z
  .unknown()
  .optional()
  .describe('Resolutions of conflicts: a list of `{ place, take }`, with `take` ours or theirs');
export const changeRebase = z.strictObject({ resolve });
export const changeRevert = z.strictObject({
  title: title.optional(),
  reason: reason.optional(),
  online: planMembers.online,
  purge: planMembers.purge,
  resolve,
});
export const changeApplication = z.strictObject({
  at: z.iso
    .datetime({ offset: true, error: 'must be a time with its time zone: 2026-11-22T03:00:00Z.', abort: true })
    .refine((text) => isStorableTime(new Date(text)), `must be a time ${TIME_RANGE}.`)
    .optional()
    .describe('When to apply it, by the clock of the database. Default: now'),
});
export const changeRejection = z.strictObject({ comment: comment.optional() });

export type NewChange = z.output<typeof newChange>;
export type ChangeUpdate = z.output<typeof changeUpdate>;
