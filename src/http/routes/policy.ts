/** /policy: read and test (auditors), set (admins). */
import { z } from 'zod';
import { canonicalJson } from '../../kernel/canonical.js';
import { sha256 } from '../../kernel/sha256.js';
import { readPolicy } from '../../log/read-policy.js';
import { UPDATE_POLICY, updatingPolicy } from '../../pipeline/prepare/update-policy.js';
import { RULES } from '../../schema/findings/index.js';
import { type Policy, isOfPolicy } from '../../schema/policy/index.js';
import { type Answer, JSON_TYPE, jsonAnswer } from '../answer/answer.js';
import { recorded } from '../change/change.js';
import type { HttpDeps } from '../deps.js';
import { diffQuery } from '../diff-answer.js';
import { createPointAt } from '../history/point.js';
import { moment } from '../request/history-query.js';
import { jsonBytes, largeJsonAnswer } from '../answer/json-text.js';
import { representationAnswer } from '../answer/representation.js';
import { readPolicyBody } from '../policy/policy-body.js';
import { createPolicyTest } from '../policy/policy-test.js';
import { flag, noQuery } from '../request/query.js';
import { type Route, route } from '../route.js';

const PATH = '/policy';

const readQuery = z.strictObject({ at: moment.optional().describe('A moment; now when absent') });

const testQuery = diffQuery.extend({ online: flag.describe('As if it were asked for online') });

/** An event of the log replaces the whole policy. */
export function policyRoutes(deps: HttpDeps): Route[] {
  const { pool, pipeline, rendered } = deps;
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
        const meta = { position, updated_at, codes: CODES };
        const found = await rendered.get(policy, `policy ${position}`, () => jsonBytes({ data: policy, meta }));
        // If-Match compares the beginning of this tag; the rest covers the whole response.
        const etag = `"${hashOf(policy)}-${found.etag.slice(1)}`;
        return representationAnswer({ ...found, etag, type: JSON_TYPE, position: upTo ?? call.head }, call.req);
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
          // The tag is that of the policy instead of the schema.
          run: ({ ifMatch, ...context }) =>
            pipeline.record(
              updatingPolicy(policy, (now) => ifMatch === undefined || ifMatch.split('-')[0] === hashOf(now)),
              context,
            ),
          render: ({ position }) => {
            const answer = jsonAnswer(200, { data: policy });
            return { ...answer, headers: [...answer.headers, 'ETag', `"${hashOf(policy)}"`], position };
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

/** The finding codes that a policy can configure. */
const CODES = RULES.filter(({ code }) => !isOfPolicy(code)).map(({ code, title, level, shownOnly = false }) => ({
  code,
  title,
  level,
  shown_only: shownOnly,
}));

const hashOf = (policy: Policy): string => sha256(canonicalJson(policy));
