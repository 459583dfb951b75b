/** Runs the rules over a plan. */
import type { Resumable } from '../../kernel/resumable.js';
import { type Known, type Plan, fieldChanges, plannedEvents, relationChanges } from './planned-batch.js';
import { placeText } from '../model/place.js';
import { actionOf, keyOf } from '../policy/index.js';
import { type GroupOf, createGathering } from './group-findings.js';
import { extrasOf } from '../model/state.js';
import type { Finding, Observed, PlannedEvent, Rule } from './model.js';
import { RULES } from './rules/index.js';

type With<K extends keyof Rule> = Rule & Required<Pick<Rule, K>>;

const having = <K extends keyof Rule>(check: K, rules: readonly Rule[]): With<K>[] =>
  rules.filter((rule): rule is With<K> => rule[check] !== undefined);

const checksOf = (rules: readonly Rule[]) => ({
  statements: having('statement', rules),
  fields: having('field', rules),
  relations: having('relation', rules),
  events: having('event', rules),
});

const CHECKS = checksOf(RULES);

/** For adopted objects. */
const STANDING = checksOf(RULES.filter(({ standing }) => standing === true));

/** Returns all findings of a plan in the order of its events. Findings of statements come first within an event. */
export function* findingsOf(plan: Plan, known: Known = {}): Resumable<Finding[]> {
  const gathering = createGathering(groupsOf(plan));
  for (const planned of plannedEvents(plan, known)) {
    yield;
    if (planned === undefined) continue;
    for (const { statement, index } of planned.statements) {
      for (const rule of CHECKS.statements) add(rule, rule.statement(statement, planned), planned, index);
    }
    yield* judgeDocuments(planned, add);
  }
  return gathering.findings();

  function add(rule: Rule, observed: Observed | undefined, planned: PlannedEvent, statement?: number): void {
    if (observed !== undefined) gathering.add(rule, observed, planned, statement);
  }
}

/**
 * Groups findings by code and policy action. Findings that people acknowledge or approve are not grouped, because each
 * needs its location.
 */
function groupsOf({ policy, apart = NONE }: Plan): GroupOf | undefined {
  if (apart === 'every') return () => undefined;
  if (policy === undefined) return undefined;
  return (code, place) => {
    const action = actionOf(policy, code, place.collection);
    const isApart =
      action === 'acknowledge' ||
      action === 'approve' ||
      (apart.size > 0 && apart.has(keyOf({ code, place: placeText(place) })));
    return isApart ? undefined : `${code} ${action}`;
  };
}

const NONE: ReadonlySet<string> = new Set();

type Add = (rule: Rule, observed: Observed | undefined, planned: PlannedEvent) => void;

/** Findings about columns of partitions are reported for the parent table. */
const isPartition = ({ after }: PlannedEvent): boolean => extrasOf(after).partition_of !== undefined;

/** A collection may have any number of fields. */
function* judgeDocuments(planned: PlannedEvent, add: Add): Resumable<void> {
  const checks = planned.found ? STANDING : CHECKS;
  for (const change of isPartition(planned) ? [] : fieldChanges(planned)) {
    for (const rule of checks.fields) add(rule, rule.field(change, planned), planned);
    yield;
  }
  for (const change of relationChanges(planned)) {
    for (const rule of checks.relations) add(rule, rule.relation(change, planned), planned);
  }
  for (const rule of checks.events) {
    for (const observed of [rule.event(planned) ?? []].flat()) add(rule, observed, planned);
  }
}
