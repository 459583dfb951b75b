/** Routes of /policy. Auditors may read and test the policy. Admins may set it. */
import { z } from 'zod';
import { readPolicy } from '../../log/decisive-events.js';
import { policyHash } from '../../schema/operations/update-policy.js';
import { RULES } from '../../schema/findings/rules/index.js';
import { isOfPolicy } from '../../schema/policy.js';
import { type Answer, JSON_TYPE, jsonAnswer, jsonBytes, largeJsonAnswer } from '../answer/answer.js';
import { runRecording } from '../change/change.js';
import type { HttpDeps } from '../deps.js';
import { diffQuery } from '../diff-answer.js';
import { createPointAt } from '../history.js';
import { moment, flag, noQuery } from '../request/query.js';
import { representationAnswer } from '../answer/representation.js';
import { policy as policySchema, policyBody, readPolicyBody, createPolicyTest } from '../policy.js';
import { data } from '../openapi/answers/envelopes.js';
import { policyAt, policyTest, policyTestBody } from '../openapi/answers/operating.js';
import { documentBody, jsonBody, type Route, route, withoutParsing } from '../route.js';

const PATH = '/policy';

const readQuery = z.strictObject({ at: moment.optional().describe('A point in time. Default: now') });

const testQuery = diffQuery.extend({ online: flag.describe('Evaluate an online change') });

/** Setting the policy appends an event that replaces the whole policy. */
export function policyRoutes(deps: HttpDeps): Route[] {
  const { pool, pipeline, rendered } = deps;
  const pointAt = createPointAt(deps);
  const test = createPolicyTest(deps);
  return [
    route({
      method: 'get',
      path: PATH,
      operationId: 'getPolicy',
      summary: 'Retrieve the policy, now or at a point in time',
      access: 'auditor',
      action: 'read',
      query: readQuery,
      answers: { 200: policyAt },
      validated: true,
      errors: ['NOT_FOUND'],
      async handle(call) {
        const { at } = call.query;
        const upTo = at === undefined ? undefined : (await pointAt(at, 'at', call)).head.position;
        const { policy, position, updated_at } = await readPolicy(pool, upTo);
        const meta = { position, updated_at, codes: CODES };
        const content = await rendered.get(policy, `policy ${position}`, () => jsonBytes({ data: policy, meta }));
        // If-Match compares the beginning of this tag. The rest covers the whole response.
        const etag = `"${policyHash(policy)}-${content.etag.slice(1)}`;
        return representationAnswer({ ...content, etag, type: JSON_TYPE, position: upTo ?? call.head }, call.req);
      },
    }),
    route({
      method: 'put',
      path: PATH,
      operationId: 'setPolicy',
      summary: 'Replace the policy. Omitted members get their default',
      description:
        'If-Match accepts the ETag of GET /policy. Setting the same policy again appends nothing. If `policy_changes` is `approve`, open a change request with `policy` instead (POST /changes).',
      access: 'admin',
      action: 'personal',
      query: noQuery,
      body: withoutParsing(
        jsonBody(policyBody, {
          example: { findings: { LOSES_DATA: 'approve', INDEX_UNDER_LOCK: 'refuse' }, online_above_rows: 100_000 },
        }),
      ),
      answers: { 200: data(policySchema) },
      errors: ['POLICY_REFUSED', 'PRECONDITION_FAILED', 'IDEMPOTENCY_MISMATCH', 'LOCK_TIMEOUT'],
      handle(call): Promise<Answer> {
        const policy = readPolicyBody(call.body);
        return runRecording(call, 'update-policy', {
          // The ETag is that of the policy, and not that of the schema as in other routes.
          run: ({ ifMatch, ...context }) =>
            pipeline.apply('update-policy', { policy, expected: ifMatch?.split('-')[0] }, context),
          render: ({ position }) => {
            const answer = jsonAnswer(200, { data: policy });
            return { ...answer, headers: [...answer.headers, 'ETag', `"${policyHash(policy)}"`], position };
          },
        });
      },
    }),
    route({
      method: 'post',
      path: `${PATH}/test`,
      operationId: 'testPolicy',
      summary: 'Evaluate a change against the current policy or a given one, without executing it',
      access: 'auditor',
      query: testQuery,
      body: withoutParsing(
        documentBody(policyTestBody, {
          example: { snapshot: { version: 1, collections: [], fields: [], relations: [] } },
        }),
      ),
      answers: { 200: data(policyTest) },
      errors: ['SCHEMA_CHANGED', 'IN_USE', 'ALREADY_EXISTS'],
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
