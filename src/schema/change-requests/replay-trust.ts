/**
 * Evaluates the batches of pipelines by the trust rules in force at their position. Pure. The log contains neither the ID
 * tokens nor the networks of a request, so only the subject, the user, the setter, the role, the actions and the
 * collections of a rule can be evaluated. Without the schema, only the collection of each event can be judged, but not the
 * other ends of relations or triggers.
 */
import { isObject } from '../../kernel/json.js';
import { type Accounts, isActiveAdmin } from '../fold/accounts.js';
import { EVENT_KINDS } from '../fold/event-schemas.js';
import { type RawEvent, readEvent } from '../fold/upcasting.js';
import type { Actor, LogEvent } from '../model/events.js';
import { type TokenAction, type TrustRule, commonRole } from '../model/token-scope.js';
import { matchesPattern } from '../policy.js';

interface RecordedBatch {
  actor: Actor;
  /** ISO 8601. */
  occurredAt: string;
  /** False if the service applied a scheduled or prepared request, which was evaluated when the pipeline requested it. */
  isRequested: boolean;
  /** The stored events, which may be of an older version. */
  events: readonly RawEvent[];
  /** The rules in force before the batch. Rules change under the log's lock, so none ends while a batch is recorded. */
  rules: readonly TrustRule[];
  /** See `ReplayedBatch`. */
  reachesOutside: ((scope: readonly string[]) => boolean) | undefined;
}

/** Milliseconds by which the expiry of a token may exceed that of its rule. */
const TOLERANCE = 60_000;

/**
 * Returns the reason why no trust rule allowed the batch. Undefined if a rule did, or if no pipeline sent it.
 * @throws UnreadableEventError
 */
export function explainUntrusted(batch: RecordedBatch, accounts: Accounts): string | undefined {
  const { actor, isRequested, events } = batch;
  for (const event of events.flatMap(readExchange)) {
    const reason = explainExchange(event, batch, accounts);
    if (reason !== undefined) return reason;
  }
  if (!isPipeline(actor) || !isRequested) return undefined;
  // Several rules can have issued the token, because the name of a pipeline is ambiguous.
  const reasons = batch.rules.filter((rule) => accepts(rule, actor)).map((rule) => explainExcess(batch, rule));
  if (reasons.length === 0) return 'no trust rule in force allowed its pipeline';
  return reasons.includes(undefined) ? undefined : reasons[0];
}

/** Users cannot have such names. The name is null if it was erased. */
export const isPipeline = ({ name }: Actor): boolean => name !== null && /^ci:.+ \(https?:\/\/\S+\)$/u.test(name);

/** The name of a pipeline contains the rule, the subject and the issuer: `ci:deploy repo:a/b:ref:… (https://…)`. */
function accepts({ name, user, issuer, claims }: TrustRule, actor: Actor): boolean {
  const [prefix, suffix, text] = [`ci:${name} `, ` (${issuer})`, actor.name ?? ''];
  if (actor.id !== user || !text.startsWith(prefix) || !text.endsWith(suffix)) return false;
  return matchesPattern(claims['sub'] ?? '', text.slice(prefix.length, -suffix.length));
}

/** Returns how the batch exceeds the rule. */
function explainExcess({ events, reachesOutside }: RecordedBatch, rule: TrustRule): string | undefined {
  const { name, scope } = rule;
  const others = events.filter((event) => readExchange(event).length === 0);
  const [first] = others.flatMap((event) => explainEvent(event, rule) ?? []);
  const isOutside = scope.collections !== undefined && reachesOutside?.(scope.collections) === true;
  const reason = first ?? (isOutside ? 'does not include all collections that change' : undefined);
  return reason === undefined ? undefined : `the trust rule ${JSON.stringify(name)} ${reason}`;
}

/** Returns how the event exceeds the rule, as the end of a sentence. */
function explainEvent(event: RawEvent, { scope }: TrustRule): string | undefined {
  const { collections } = scope;
  const action = actionOf(event);
  if (action === 'none') return `cannot allow the event ${event.type}`;
  if (action === undefined) return undefined;
  if (scope.actions?.includes(action) !== true) return `does not grant the action ${action}`;
  if (action === 'apply' && scope.role !== 'admin') return 'does not grant the role admin';
  if (collections === undefined) return undefined;
  const outside = namesIn(event).find((name) => !collections.some((pattern) => matchesPattern(pattern, name)));
  return outside === undefined ? undefined : `does not include the collection ${JSON.stringify(outside)}`;
}

/** Returns the collection of the event, and those that a change request lists. */
function namesIn(stored: RawEvent): string[] {
  if (stored.collection != null) return [stored.collection];
  if (!REQUESTING.has(stored.type)) return [];
  const event: LogEvent = readEvent(stored);
  return 'collections' in event.data ? (event.data.collections ?? []) : [];
}

const REQUESTING: ReadonlySet<string> = new Set(['change.opened', 'change.updated']);

/** Returns the action that a pipeline needs for an event. `none`: no pipeline may append it. Undefined: not evaluated. */
function actionOf(event: RawEvent): TokenAction | 'none' | undefined {
  const { type } = event;
  if (isProposing(event)) return 'propose';
  if (PERSONAL.test(type)) return 'none';
  if (type.startsWith('change.') || type === 'trash.purged') return 'apply';
  if (!Object.hasOwn(EVENT_KINDS, type)) return undefined;
  const { changesSchema, changesObjects } = EVENT_KINDS[type as LogEvent['type']];
  return changesSchema || changesObjects ? 'apply' : undefined;
}

/** An online change without a proposal is applied without review. */
const isProposing = ({ type, data }: RawEvent): boolean =>
  PROPOSED.has(type) && (type !== 'change.opened' || !isObject(data) || data['proposal'] !== undefined);

const PERSONAL = /^(?:account|token|identity|trust|policy|webhook|environment|log)\.|^change\.approved$/u;

const PROPOSED: ReadonlySet<string> = new Set([
  'change.opened',
  'change.updated',
  'change.commented',
  'change.withdrawn',
]);

type Exchange = Extract<LogEvent, { type: 'token.created' }>;

function readExchange(stored: RawEvent): Exchange[] {
  if (stored.type !== 'token.created') return [];
  const event: LogEvent = readEvent(stored);
  return event.type === 'token.created' && event.data.rule !== undefined ? [event] : [];
}

function explainExchange(
  { subject, data }: Exchange,
  { rules, occurredAt }: RecordedBatch,
  accounts: Accounts,
): string | undefined {
  const rule = rules.find(({ name }) => name === data.rule);
  const isAllowed =
    rule !== undefined &&
    rule.user === subject?.id &&
    rule.set_by === data.issued_by &&
    isActiveAdmin(accounts.get(rule.set_by)) &&
    isGranted(rule, data.scope, accounts.get(rule.user)) &&
    data.expires_at !== null &&
    Date.parse(data.expires_at) <= Date.parse(occurredAt) + rule.minutes * 60_000 + TOLERANCE;
  return isAllowed ? undefined : `no trust rule in force allowed the API token ${data.token}`;
}

/** True if the user is active, and the scope has the limits of the rule and the role that the rule and the user share. */
const isGranted = (
  rule: TrustRule,
  scope: Exchange['data']['scope'],
  user: { role: string; status: string } | undefined,
): boolean =>
  user?.status === 'active' &&
  scope?.role === commonRole(user.role, rule.scope.role) &&
  LIMITS.every((limit) => isSameList(rule.scope[limit], scope[limit]));

const LIMITS = ['actions', 'collections', 'networks'] as const;

const isSameList = (one: readonly string[] | undefined, other: readonly string[] | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
