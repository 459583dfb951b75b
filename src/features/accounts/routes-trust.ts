/* Routes for trust rules (for admins) and for the exchange of ID tokens (for pipelines). */
import { z } from 'zod';
import { causeOf, runRecording } from '../../http/change/change.js';
import { JSON_TYPE, jsonAnswer, jsonBytes, unwrap } from '../../http/answer/answer.js';
import { representationAnswer } from '../../http/answer/representation.js';
import type { HttpDeps } from '../../http/deps.js';
import { RejectedError } from '../../http/errors.js';
import { createPointAt } from '../../http/history.js';
import { data } from '../../http/openapi/answers/envelopes.js';
import { moment, noQuery } from '../../http/request/query.js';
import { addressOf } from '../../http/request/headers.js';
import { type Call, NO_ACKNOWLEDGE, type Route, jsonBody, route } from '../../http/route.js';
import { unauthenticated } from '../../http/serve.js';
import { isIssuer } from '../../kernel/networks.js';
import { ProblemError } from '../../kernel/problem.js';
import { invisibleFault } from '../../kernel/text.js';
import type { TrustRule } from '../../schema/model/token-scope.js';
import { changeAccount, createAccountCommand } from './change-account.js';
import { IdTokenError } from './id-tokens.js';
import * as accounts from './routes-answers.js';
import { verifyLimited } from './routes-login.js';
import { tokenScope } from './scope.js';
import { pipelineName, trustHash } from './trust.js';

const PATH = '/auth/trust';

const readQuery = z.strictObject({ at: moment.optional().describe('A point in time. Default: now') });

const MOST_RULES = 100;
const LONGEST = 200;

const name = z
  .string()
  .min(1)
  .max(64)
  .refine((text) => text.trim() === text && invisibleFault(text) === null, 'must not contain control characters');

const visible = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .refine((text) => invisibleFault(text) === null, 'must not contain control, format or invisible characters');

const claims = z
  .record(visible(LONGEST), visible(500))
  .refine((all) => Object.keys(all).length <= 20, 'must have at most 20 claims')
  .refine((all) => /[^*]/.test(all['sub'] ?? ''), {
    message: 'is required, and must not accept every subject',
    path: ['sub'],
  })
  .describe('Required values by claim, or patterns with `*`. `sub` is required');

const shared = {
  name: name.describe('Shown in the log'),
  issuer: z
    .string()
    .max(LONGEST)
    .refine(
      (text) => isIssuer(text) && invisibleFault(text) === null,
      'must be the https address of an OpenID issuer. http is allowed on this machine only',
    )
    .describe('Compared exactly with the claim `iss`'),
  audience: visible(LONGEST).describe('A value of the claim `aud`'),
  claims,
  scope: tokenScope.required({ actions: true }),
};

interface PublicIssuer {
  /**
   * The beginning of a subject that names the owner. On GitHub, each repository can choose another form of its subject,
   * such as `environment:production`, so a subject without a pattern may also be that of a stranger.
   */
  subject: RegExp;
  /** Claims that name the owner. */
  claims: readonly string[];
}

/** Issuers from which everyone can get ID tokens. */
const PUBLIC_ISSUERS: ReadonlyMap<string, PublicIssuer> = new Map([
  [
    'https://token.actions.githubusercontent.com',
    {
      subject: /^(?:repo(?:sitory)?:[^:/*]+\/|repository_(?:id|owner|owner_id):[^:*]+(?::|$))/,
      claims: ['repository', 'repository_id', 'repository_owner', 'repository_owner_id'],
    },
  ],
  [
    'https://gitlab.com',
    {
      subject: /^project_path:[^:/*]+\//,
      claims: ['project_path', 'project_id', 'namespace_path', 'namespace_id'],
    },
  ],
]);

/** False if a rule for a public issuer accepts the pipelines of strangers: `repo:*`, or `repo:shop*` for `shop-2`. */
function namesOwner({ issuer, claims: { sub = '', ...others } }: Pick<TrustRule, 'issuer' | 'claims'>): boolean {
  const known = PUBLIC_ISSUERS.get(issuer);
  if (known === undefined) return true;
  return known.subject.test(sub) || known.claims.some((claim) => others[claim]?.includes('*') === false);
}

const newRule = z
  .strictObject({
    ...shared,
    user: z.uuid().optional().describe('Id of the user whose API tokens it issues. Default: you'),
    set_by: z
      .uuid()
      .optional()
      .describe('Ignored. The member is accepted so that you can send back the rules that you read'),
    minutes: z.int().min(1).max(60).default(15).describe('Lifetime of its API tokens'),
  })
  .refine(namesOwner, {
    message:
      'must name the owner of the repository before the first "*", because everyone can get ID tokens of this issuer. Write "repo:owner/repository:*" on GitHub or "project_path:group/project:*" on gitlab.com, or require "repository_owner" or "namespace_path"',
    path: ['claims', 'sub'],
  });

const trustBody = z
  .strictObject({
    rules: z.array(newRule).max(MOST_RULES).describe('The first rule that accepts an ID token determines the scope'),
  })
  .refine(({ rules }) => new Set(rules.map((rule) => rule.name)).size === rules.length, {
    message: 'must not contain a name twice',
    path: ['rules'],
  })
  .meta({ id: 'TrustSettings' });

export const trust = z
  .strictObject({
    rules: z.array(
      z.strictObject({
        ...shared,
        user: z.uuid(),
        set_by: z.uuid().describe('The user who set it'),
        minutes: z.int(),
      }),
    ),
  })
  .meta({ id: 'Trust' });

const trustAt = z.strictObject({
  data: trust,
  meta: z.strictObject({
    position: z.int().min(0).describe('Position of the event that set the rules. 0 if no event did'),
    updated_at: z.iso.datetime().nullable(),
  }),
});

const exchangeBody = z.strictObject({ token: z.string().min(1).max(16_384).describe('The ID token of the pipeline') });

const EXAMPLE = {
  rules: [
    {
      name: 'deploy',
      issuer: 'https://token.actions.githubusercontent.com',
      audience: 'https://dps.example.com',
      claims: { sub: 'repo:example/schema:ref:refs/heads/main', event_name: 'push', ref_protected: 'true' },
      scope: { role: 'admin', actions: ['read', 'apply'] },
    },
  ],
};

export function trustRoutes(deps: HttpDeps): Route[] {
  const { auth, pipeline, rendered } = deps;
  const pointAt = createPointAt(deps);
  return [
    route({
      method: 'get',
      path: PATH,
      operationId: 'getTrust',
      summary: 'Retrieve the trust rules, now or at a point in time',
      access: 'auditor',
      query: readQuery,
      answers: { 200: trustAt },
      validated: true,
      errors: ['NOT_FOUND'],
      async handle(call) {
        const { at } = call.query;
        const upTo = at === undefined ? undefined : (await pointAt(at, 'at', call)).head.position;
        const { rules, ...meta } = await auth.trust.read(upTo);
        const content = await rendered.get(rules, 'trust', () => jsonBytes({ data: { rules }, meta }));
        const etag = `"${trustHash(rules)}-${content.etag.slice(1)}`;
        return representationAnswer({ ...content, etag, type: JSON_TYPE, position: upTo ?? call.head }, call.req);
      },
    }),
    route({
      method: 'put',
      path: PATH,
      operationId: 'setTrust',
      summary: 'Replace the trust rules. Tokens of removed and changed rules stop working immediately',
      description: 'If-Match accepts the ETag of GET /auth/trust. Setting the same rules again appends nothing.',
      access: 'admin',
      action: 'unscoped',
      query: noQuery,
      headers: NO_ACKNOWLEDGE,
      body: jsonBody(trustBody, { example: EXAMPLE }),
      answers: { 200: data(trust) },
      errors: ['PRECONDITION_FAILED', 'IDEMPOTENCY_MISMATCH', 'LOCK_TIMEOUT'],
      handle(call) {
        return runRecording(call, 'set-trust', {
          // The ETag is that of the rules, and not that of the schema as in other routes.
          run({ ifMatch, ...context }) {
            const set = { caller: call.caller, expected: ifMatch?.split('-')[0] };
            return pipeline.apply('record', createAccountCommand(auth.trust.replace(call.body.rules, set)), context);
          },
          render: ({ command: { value: rules }, position }) => {
            const answer = jsonAnswer(200, { data: { rules } });
            return { ...answer, headers: [...answer.headers, 'ETag', `"${trustHash(rules)}"`], position };
          },
        });
      },
    }),
    route({
      method: 'post',
      path: '/auth/exchange',
      operationId: 'exchangeToken',
      summary: 'Exchange the ID token of a pipeline for an API token, under a trust rule',
      description:
        'For GitHub Actions, GitLab and other OpenID issuers. Each ID token can be exchanged once, within an hour after it was issued.',
      access: 'anyone',
      query: noQuery,
      headers: [],
      body: jsonBody(exchangeBody, { example: { token: 'eyJ…' } }),
      answers: { 200: data(accounts.newToken) },
      errors: ['UNAUTHENTICATED', 'FORBIDDEN', 'INVALID_STATE', 'TOO_MANY_REQUESTS', 'UNAVAILABLE', 'LOCK_TIMEOUT'],
      handle: (call) => exchange(deps, call),
    }),
  ];
}

type ExchangeCall = Call<unknown, z.output<typeof exchangeBody>, null>;

/** Only a rejected ID token counts as a failed attempt. */
async function exchange(deps: HttpDeps, call: ExchangeCall) {
  const attempt = { address: addressOf(call.req) ?? '', email: 'exchange' };
  const away = () => Promise.resolve(false);
  let failure = '';
  const exchanged = await verifyLimited(deps.auth.exchangeLimit, attempt, away, async () => {
    try {
      const accepted = await acceptAndExchange(deps, call);
      deps.metrics.signIn('pipeline', 'done');
      return accepted;
    } catch (error) {
      deps.metrics.signIn('pipeline', outcomeOf(error));
      logFailure(deps, call, error);
      if (!(error instanceof IdTokenError)) throw error;
      failure = error.message;
      return null;
    }
  });
  if (exchanged === null) throw unauthenticated(failure, 'invalid_token');
  return jsonAnswer(200, { data: exchanged });
}

async function acceptAndExchange({ auth, pipeline }: HttpDeps, { req, requestId, body }: ExchangeCall) {
  const accepted = await auth.trust.accept(body.token);
  const { user, name: rule } = accepted.rule;
  const caller = {
    id: user,
    name: pipelineName(accepted),
    role: 'reader',
    credential: { kind: 'token', issuedBy: null },
  } as const;
  const cause = { ...causeOf('exchange-token', { req, requestId, caller }), reason: `trust rule ${rule}` };
  const exchanged = unwrap(await changeAccount(pipeline, auth.trust.exchange(accepted), { cause }));
  if (exchanged === null) throw new IdTokenError('exchanged', `${caller.name} sent an ID token again`);
  return exchanged;
}

/** Returns the failed check of the ID token, or who failed: the issuer (`unavailable`) or the service (`failed`). */
function outcomeOf(error: unknown): string {
  if (error instanceof IdTokenError) return error.check;
  if (error instanceof ProblemError) return 'unavailable';
  return error instanceof RejectedError ? 'rejected' : 'failed';
}

function logFailure({ logger }: HttpDeps, { requestId }: ExchangeCall, error: unknown): void {
  const message = 'the exchange of an ID token failed';
  if (error instanceof IdTokenError)
    logger.warn(message, { request_id: requestId, check: error.check, reason: error.detail });
  else if (error instanceof ProblemError) logger.warn(message, { request_id: requestId, error: error.cause });
}
