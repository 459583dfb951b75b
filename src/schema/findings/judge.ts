/** The rules, run over a plan. */
import type { Resumable } from '../../kernel/resumable.js';
import { type Known, type Plan, fieldChanges, plannedEvents, relationChanges } from './batch.js';
import { createGathering } from './gather.js';
import type { Finding, Observed, PlannedEvent, Rule } from './model.js';
import { RULES } from './rules/index.js';

type With<K extends keyof Rule> = Rule & Required<Pick<Rule, K>>;

const having = <K extends keyof Rule>(check: K): With<K>[] =>
  RULES.filter((rule): rule is With<K> => rule[check] !== undefined);

const OF_STATEMENTS = having('statement');
const OF_FIELDS = having('field');
const OF_RELATIONS = having('relation');
const OF_EVENTS = having('event');

/** All findings of a plan, in the order of its events; of one event, those of its statements first. */
export function* findingsOf(plan: Plan, known: Known = {}): Resumable<Finding[]> {
  const gathering = createGathering();
  for (const planned of plannedEvents(plan, known)) {
    yield;
    if (planned === undefined) continue;
    for (const { statement, index } of planned.statements) {
      for (const rule of OF_STATEMENTS) add(rule, rule.statement(statement, planned), planned, index);
    }
    yield* judgeDocuments(planned, add);
  }
  return gathering.findings();

  function add(rule: Rule, observed: Observed | undefined, planned: PlannedEvent, statement?: number): void {
    if (observed !== undefined) gathering.add(rule, observed, planned, statement);
  }
}

type Add = (rule: Rule, observed: Observed | undefined, planned: PlannedEvent) => void;

/** A collection may come with any number of fields. */
function* judgeDocuments(planned: PlannedEvent, add: Add): Resumable<void> {
  for (const change of fieldChanges(planned)) {
    for (const rule of OF_FIELDS) add(rule, rule.field(change, planned), planned);
    yield;
  }
  for (const change of relationChanges(planned)) {
    for (const rule of OF_RELATIONS) add(rule, rule.relation(change, planned), planned);
  }
  for (const rule of OF_EVENTS) {
    for (const observed of [rule.event(planned) ?? []].flat()) add(rule, observed, planned);
  }
}
