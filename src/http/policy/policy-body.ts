import { z } from 'zod';
import { isObject } from '../../kernel/json.js';
import { type Path, invalid } from '../../kernel/problem.js';
import { RULES, ruleOf } from '../../schema/findings/index.js';
import {
  ACTIONS,
  type Action,
  DEFAULT_POLICY,
  POLICY_CHANGES,
  type Policy,
  isOfPolicy,
  isStopping,
} from '../../schema/policy/index.js';
import { readShape } from '../body/shape.js';
import { Refused } from '../errors.js';

const SHOWN_ONLY = 'is only noticed where a document is read: off, note or warn';

const LONGEST_PATTERN = 255;
const MOST_PATTERNS = 200;
const MOST_APPROVALS = 100;

const action = z.enum(ACTIONS, { error: `must be one of ${ACTIONS.join(', ')}.` });

/** Checked one by one, so that an error names the location. */
const findings = z
  .record(z.string(), action)
  .superRefine((actions, context) => {
    for (const [code, each] of Object.entries(actions)) {
      const problem = problemOf(code, each);
      if (problem !== undefined) context.addIssue({ code: 'custom', path: [code], message: problem });
    }
  })
  .describe(
    `By code of a finding: ${RULES.filter(({ code, shownOnly }) => shownOnly !== true && !isOfPolicy(code)).length} of them can be more than shown`,
  );

function problemOf(code: string, each: Action): string | undefined {
  const rule = ruleOf(code);
  if (rule === undefined) return 'is not the code of a finding; docs/findings.md has all of them';
  if (isOfPolicy(code)) return 'is about the policy itself: set policy_changes instead';
  return rule.shownOnly === true && isStopping(each) ? SHOWN_ONLY : undefined;
}

const members = {
  findings,
  collections: z
    .array(
      z.strictObject({
        pattern: z
          .string()
          .min(1)
          .max(LONGEST_PATTERN)
          .describe('Of names: `*` stands for any characters, all others for themselves'),
        findings,
      }),
    )
    .max(MOST_PATTERNS)
    .describe('The first whose pattern fits and which has the code goes before `findings`'),
  online_above_rows: z
    .int()
    .nonnegative()
    .nullable()
    .describe('What can be made online is, where its table has more rows; null: as one likes'),
  approvals: z
    .int()
    .min(1)
    .max(MOST_APPROVALS)
    .describe('How many people approve a change request before it is applied'),
  author_may_approve: z.boolean().describe('Whether its author is one of them'),
  policy_changes: z
    .enum(POLICY_CHANGES, { error: `must be one of ${POLICY_CHANGES.join(', ')}.` })
    .describe(
      'What a change of the policy needs: nothing; an acknowledgement (LOOSENS_POLICY) where it loosens the policy; an approved change request',
    ),
};

/** A complete policy, as returned. */
export const policy = z.strictObject(members).meta({ id: 'Policy' });

/** A policy as it is set. Missing members get their defaults. */
export const policyBody = z
  .strictObject({
    findings: members.findings.default({}),
    collections: members.collections.default([]),
    online_above_rows: members.online_above_rows.default(DEFAULT_POLICY.online_above_rows),
    approvals: members.approvals.default(DEFAULT_POLICY.approvals),
    author_may_approve: members.author_may_approve.default(DEFAULT_POLICY.author_may_approve),
    policy_changes: members.policy_changes.default(DEFAULT_POLICY.policy_changes),
  })
  .meta({ id: 'PolicySettings' });

/**
 * Reads the policy from a member of a body, or from the body itself.
 * @throws Refused
 */
export function readPolicyBody(body: unknown, member?: string): Policy {
  const at = member === undefined ? [] : [member];
  const hidden = hiddenMembers(body, at);
  if (hidden.length > 0) throw new Refused(hidden.map((path) => invalid(path, 'is not the code of a finding')));
  return member === undefined
    ? readShape(policyBody, body)
    : (readShape(z.object({ [member]: policyBody }), { [member]: body })[member] as Policy);
}

/** zod silently drops a member of this name. */
const HIDDEN = '__proto__';

function hiddenMembers(body: unknown, at: Path): Path[] {
  if (!isObject(body)) return [];
  const { findings, collections } = body;
  const rules: unknown[] = Array.isArray(collections) ? collections : [];
  return [
    ...(isObject(findings) && Object.hasOwn(findings, HIDDEN) ? [[...at, 'findings', HIDDEN]] : []),
    ...rules.flatMap((rule, index) => hiddenMembers(rule, [...at, 'collections', index])),
  ];
}
