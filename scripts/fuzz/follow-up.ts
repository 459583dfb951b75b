/** Requests that follow from the response to another request: one endpoint must accept what another returns. */
import { isObject } from '../../src/kernel/json.js';
import type { FuzzRequest, Reply } from './request.js';
import type { Random } from './random.js';
import { json } from './world.js';

interface DiffAnswer {
  hash: string;
  diff: Record<string, unknown[]>;
}

/** PostgreSQL may reject these although the schema allows them, because of rows, existing names or locks. */
const DATABASE_SAYS_NO = new Set([409, 422, 503]);

const isEmpty = ({ diff }: DiffAnswer): boolean => Object.values(diff).every((part) => part.length === 0);

const codesOf = ({ json: body }: Reply): (string | undefined)[] =>
  ((body as { errors?: { extensions?: { code?: string } }[] } | undefined)?.errors ?? []).map(
    (each) => each.extensions?.code,
  );

const taken =
  ({ route, query, body }: FuzzRequest) =>
  (reply: Reply): string | null => {
    if (reply.status < 300) return null;
    const stale = codesOf(reply).includes('SCHEMA_CHANGED');
    if (DATABASE_SAYS_NO.has(reply.status) && !stale) return null;
    const description = `${route} ${JSON.stringify(query)} ${JSON.stringify(body ?? null).slice(0, 300)}`;
    return `apply rejects the answer to ${description}: ${reply.status} ${reply.text.slice(0, 600)}`;
  };

const expectEmptyDiff = ({ status, json: body, text }: Reply): string | null => {
  if (status !== 200) return `a snapshot that was applied is refused: ${status} ${text.slice(0, 600)}`;
  return isEmpty(body as DiffAnswer) ? null : `a snapshot that was applied differs still: ${text.slice(0, 1_500)}`;
};

export type FollowUp = (session: { request: FuzzRequest; reply: Reply; random: Random }) => FuzzRequest[];

/** The requested change if it can be applied now: it is not empty and starts at the current schema. */
function applicable(request: FuzzRequest, { status, json: body }: Reply): DiffAnswer | null {
  const { route, method } = request;
  const isDiff = route === 'POST /schema/diff' || route === 'POST /schema/merge' || route === 'GET /history/diff';
  if (!isDiff || !route.startsWith(`${method} `) || status !== 200) return null;
  if (startsElsewhere(request)) return null;
  const answer = body as DiffAnswer | undefined;
  return answer?.diff === undefined || isEmpty(answer) ? null : answer;
}

/** A diff or merge from another point in time starts there. */
function startsElsewhere({ query, body }: FuzzRequest): boolean {
  if (query.some(([name]) => name === 'from')) return true;
  if (body === undefined) return false;
  if (body.kind !== 'text') return isObject(body.value) && 'ours' in body.value;
  // A compressed body cannot be searched.
  return typeof body.text !== 'string' || body.text.includes('"ours"') || /^ours:/m.test(body.text);
}

/** Dry-runs and applies a diff, then checks that the result contains it. */
export const followUps: FollowUp = ({ request, reply, random }) => {
  const answer = applicable(request, reply);
  if (answer === null || random.chance(0.25)) return [];
  const apply: FuzzRequest = {
    caller: 'admin',
    headers: {},
    route: 'POST /schema/apply',
    method: 'POST',
    path: '/schema/apply',
    query: [],
    body: json(answer),
    expects: taken(request),
  };
  const dryRun = random.chance(0.4) ? [{ ...apply, query: [['dry_run', '']] as [string, string][] }] : [];
  return [...dryRun, random.chance(0.85) ? { ...apply, after: againAfter(request) } : apply];
};

const againAfter = (request: FuzzRequest): FuzzRequest[] =>
  request.method === 'POST' ? [{ ...request, expects: expectEmptyDiff }] : [];
