/** /policy: what may be done without asking (auditors read and try it, admins set it). */
import { z } from 'zod';
import { canonicalJson } from '../../kernel/canonical.js';
import { sha256 } from '../../kernel/sha256.js';
import { readPolicy } from '../../log/read-policy.js';
import { UPDATE_POLICY, updatingPolicy } from '../../pipeline/prepare/update-policy.js';
import { RULES } from '../../schema/findings/index.js';
import type { Policy } from '../../schema/policy/index.js';
import { type Answer, jsonAnswer } from '../answer/answer.js';
import { recorded } from '../change/change.js';
import type { HttpDeps } from '../deps.js';
import { diffQuery } from '../diff-answer.js';
import { createPointAt } from '../history/point.js';
import { moment } from '../request/history-query.js';
import { largeJsonAnswer } from '../answer/json-text.js';
import { readPolicyBody } from '../policy/policy-body.js';
import { createPolicyTest } from '../policy/policy-test.js';
import { flag, noQuery } from '../request/query.js';
import { type Route, route } from '../route.js';

const PATH = '/policy';

const readQuery = z.strictObject({ at: moment.optional().describe('A moment; now when absent') });

const testQuery = diffQuery.extend({ online: flag.describe('As if it were asked for online') });

/** A policy is replaced as a whole, by an event of the log. */
export function policyRoutes(deps: HttpDeps): Route[] {
  const { pool, pipeline } = deps;
  const pointAt = createPointAt(deps);
  const test = createPolicyTest(deps);
  return [
    route({
      method: 'get',
      path: PATH,
      access: 'auditor',
      query: readQuery,
      async handle(call) {
        const { at } = call.query;
        const upTo = at === undefined ? undefined : (await pointAt(at, 'at', call)).head.position;
        const { policy, position, updated_at } = await readPolicy(pool, upTo);
        const answer = jsonAnswer(200, { data: policy, meta: { position, updated_at, codes: CODES } });
        return { ...answer, headers: [...answer.headers, 'ETag', tagOf(policy)], position: upTo ?? call.head };
      },
    }),
    route({
      method: 'put',
      path: PATH,
      access: 'admin',
      query: noQuery,
      body: 'json',
      handle(call): Promise<Answer> {
        const policy = readPolicyBody(call.body);
        return recorded(call, UPDATE_POLICY, {
          // The tag is of the policy, not of the schema.
          run: ({ ifMatch, ...context }) =>
            pipeline.record(
              updatingPolicy(policy, (now) => ifMatch === undefined || `"${ifMatch}"` === tagOf(now)),
              context,
            ),
          render: ({ position }) => {
            const answer = jsonAnswer(200, { data: policy });
            return { ...answer, headers: [...answer.headers, 'ETag', tagOf(policy)], position };
          },
        });
      },
    }),
    route({
      method: 'post',
      path: `${PATH}/test`,
      access: 'auditor',
      query: testQuery,
      body: 'document',
      needsPrimary: false,
      handle: async (call) => largeJsonAnswer({ data: await test(call) }),
    }),
  ];
}

/** What a policy can say something of. */
const CODES = RULES.map(({ code, title, level, shownOnly = false }) => ({ code, title, level, shown_only: shownOnly }));

const tagOf = (policy: Policy): string => `"${sha256(canonicalJson(policy))}"`;
