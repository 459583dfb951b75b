/**
 * Judges the batches of pipelines by the trust rules in force at their position. Pure. The log contains neither the ID
 * tokens nor the networks of a request, so only the subject, the user, the setter, the actions and the collections of a
 * rule can be judged.
 */
import { isObject } from '../../kernel/json.js';
import { type Accounts, isActiveAdmin } from '../fold/accounts.js';
import { EVENT_KINDS } from '../fold/event-schemas.js';
import { type RawEvent, readEvent } from '../fold/upcasting.js';
import type { Actor, LogEvent } from '../model/events.js';
import type { TokenAction, TrustRule } from '../model/token-scope.js';
import { matchesPattern } from '../policy.js';

/** The trust rules at a position. */
export interface TrustInForce {
  rules: readonly TrustRule[];
  /** The rules before the newest change, and its time in milliseconds since 1970. */
  former: readonly TrustRule[];
  changedAt: number;
}

export const NO_TRUST: TrustInForce = { rules: [], former: [], changedAt: 0 };

interface RecordedBatch {
  actor: Actor;
  /** ISO 8601. */
  occurredAt: string;
  /** False if the service applied a scheduled or prepared request, which was judged when the pipeline requested it. */
  isRequested: boolean;
  /** True if the log recorded no account before. The first account change also records the first admin. */
  isFirst: boolean;
  /** As stored, and known to be readable if they are about accounts. */
  events: readonly RawEvent[];
  trust: TrustInForce;
}

/**
 * Milliseconds after a change of the rules during which requests that had begun before it may still be recorded. Also
 * the tolerance for the expiry of a token.
 */
const TOLERANCE = 60_000;

/** Returns the reason why no trust rule allowed the batch. Undefined if a rule did, or if no pipeline sent it. */
export function explainUntrusted(batch: RecordedBatch, accounts: Accounts): string | undefined {
  const exchanged = batch.events.flatMap(readExchange);
  for (const event of exchanged) {
    const reason = explainExchange(event, batch, accounts);
    if (reason !== undefined) return reason;
  }
  const { actor, isRequested, isFirst, events } = batch;
  if (!isPipeline(actor) || !isRequested) return undefined;
  const rule = findRule(batch);
  if (rule === undefined) return 'no trust rule in force allowed its pipeline';
  const others = exchanged.length > 0 && isFirst ? [] : events.filter((event) => readExchange(event).length === 0);
  for (const event of others) {
    const reason = explainEvent(event, rule);
    if (reason !== undefined) return `the trust rule ${JSON.stringify(rule.name)} ${reason}`;
  }
  return undefined;
}

/** Users cannot have such names. The name is null if it was erased. */
const isPipeline = ({ name }: Actor): boolean => name !== null && /^ci:.+ \(https?:\/\/\S+\)$/u.test(name);

function findRule({ actor, occurredAt, trust }: RecordedBatch): TrustRule | undefined {
  const isRecent = Date.parse(occurredAt) - trust.changedAt <= TOLERANCE;
  return [...trust.rules, ...(isRecent ? trust.former : [])].find((rule) => accepts(rule, actor));
}

/** The name of a pipeline contains the rule, the subject and the issuer: `ci:deploy repo:a/b:ref:… (https://…)`. */
function accepts({ name, user, issuer, claims }: TrustRule, actor: Actor): boolean {
  const [prefix, suffix, text] = [`ci:${name} `, ` (${issuer})`, actor.name ?? ''];
  if (actor.id !== user || !text.startsWith(prefix) || !text.endsWith(suffix)) return false;
  return matchesPattern(claims['sub'] ?? '', text.slice(prefix.length, -suffix.length));
}

/** Returns how the event exceeds the rule, as the end of a sentence. */
function explainEvent(event: RawEvent, { scope }: TrustRule): string | undefined {
  const { type, collection } = event;
  const action = actionOf(event);
  if (action === 'none') return `cannot allow the event ${type}`;
  if (action === undefined) return undefined;
  if (scope.actions?.includes(action) !== true) return `does not grant the action ${action}`;
  if (action === 'apply' && scope.role !== 'admin') return 'does not grant the role admin';
  if (collection == null || scope.collections === undefined) return undefined;
  const isInScope = scope.collections.some((pattern) => matchesPattern(pattern, collection));
  return isInScope ? undefined : `does not include the collection ${JSON.stringify(collection)}`;
}

/** Returns the action that a pipeline needs for an event. `none`: no pipeline may append it. Undefined: not judged. */
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

const PERSONAL = /^(?:account|token|identity|trust|policy|log)\.|^change\.approved$/u;

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
  { trust: { rules }, occurredAt }: RecordedBatch,
  accounts: Accounts,
): string | undefined {
  const rule = rules.find(({ name }) => name === data.rule);
  const isAllowed =
    rule !== undefined &&
    rule.user === subject?.id &&
    rule.set_by === data.issued_by &&
    isActiveAdmin(accounts.get(rule.set_by)) &&
    LIMITS.every((limit) => isSameList(rule.scope[limit], data.scope?.[limit])) &&
    data.expires_at !== null &&
    Date.parse(data.expires_at) <= Date.parse(occurredAt) + rule.minutes * 60_000 + TOLERANCE;
  return isAllowed ? undefined : `no trust rule in force allowed the API token ${data.token}`;
}

const LIMITS = ['actions', 'collections', 'networks'] as const;

const isSameList = (one: readonly string[] | undefined, other: readonly string[] | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
