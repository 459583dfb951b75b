import { z } from 'zod';
import { textFault } from '../../kernel/text.js';
import { NO_PLACE, samePlace } from '../../schema/model/place.js';

/** Lengths in code points. */
const LONGEST = { title: 200, reason: 1_000, comment: 10_000 } as const;

/** Control characters that could move a terminal's cursor. */
const CONTROLS = /(?![\n\t])\p{Cc}/u;

function text(most: number, lines: 'one line' | 'lines') {
  return z
    .string()
    .max(2 * most, { error: `must have ${most} characters at most.`, abort: true })
    .superRefine((value, context) => {
      const fault = faultOf(value, most, lines);
      if (fault !== null) context.addIssue(`${fault}.`);
    });
}

function faultOf(value: string, most: number, lines: 'one line' | 'lines'): string | null {
  if (value.trim() === '') return 'must say something';
  const fault = textFault(value);
  if (fault !== null) return fault;
  if (Array.from(value).length > most) return `must have ${most} characters at most`;
  if (lines === 'one line' && /[\n\t]/.test(value)) return 'must be one line';
  return CONTROLS.test(value) ? 'must not hold control characters' : null;
}

const title = text(LONGEST.title, 'one line');
const reason = text(LONGEST.reason, 'lines').nullable();
const comment = text(LONGEST.comment, 'lines');
const plan = z
  .string()
  .regex(/^[0-9a-f]{64}$/, { error: 'must be the hash of a plan.' })
  .describe('The plan that was looked at, as `plan` of the request says it');

const place = z
  .string()
  .max(500)
  .refine((text) => samePlace(text) !== undefined, { error: `${NO_PLACE}.` });

const acknowledgement = z
  .strictObject({ code: z.string().min(1).max(100), place })
  .describe(
    'A finding that is known, by its code and its place: `articles.title`; in a name, `%2E` is a dot, `%2C` a comma, `%25` a percent sign',
  );

const how = {
  online: z.boolean().optional().describe('What takes long is prepared first, while the tables are used'),
  purge: z.boolean().optional().describe('What is deleted is dropped at once, and not kept in the trash'),
  acknowledge: z.array(acknowledgement).max(1_000).optional(),
};

const asked = {
  diff: z.unknown().optional().describe('A diff with its hash, as /schema/diff answers it'),
  snapshot: z.unknown().optional().describe('In place of a diff: the schema as it should be'),
  policy: z
    .unknown()
    .optional()
    .describe('In place of a diff: the policy to set, as PUT /policy takes it. Admins only'),
  base: z
    .unknown()
    .optional()
    .describe('The moment that the snapshot starts from: what others changed since then stays'),
  mode: z.enum(['mirror', 'merge'], { error: 'must be mirror or merge.' }).optional().describe('Of the snapshot'),
  force: z.boolean().optional().describe('Of the snapshot: one of another release, vendor or service'),
};

export const newChange = z.strictObject({ title, reason: reason.optional(), ...asked, ...how });
export const changeUpdate = z.strictObject({ title: title.optional(), reason: reason.optional(), ...asked, ...how });
export const changeComment = z.strictObject({ comment });
export const changeApproval = z.strictObject({ plan, comment: comment.optional() });
const resolve = z
  .unknown()
  .optional()
  .describe('What was decided about conflicts: a list of `{ place, take }`, with `take` ours or theirs');
export const changeRebase = z.strictObject({ resolve });
export const changeRevert = z.strictObject({
  title: title.optional(),
  reason: reason.optional(),
  online: how.online,
  resolve,
});
export const changeApplication = z.strictObject({
  at: z.iso
    .datetime({ offset: true, error: 'must be a time with its zone: 2026-11-22T03:00:00Z.' })
    .optional()
    .describe("When, by the database's clock; absent: now"),
});
export const changeRejection = z.strictObject({ comment: comment.optional() });

export type NewChange = z.output<typeof newChange>;
export type ChangeUpdate = z.output<typeof changeUpdate>;
