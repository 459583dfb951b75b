/** What was observed, with what its rule says of it: the one way to a finding. */
import { visibleText } from '../../kernel/text.js';
import type { Warning } from '../../kernel/warning.js';
import type { Finding, Observed, PlannedEvent, Rule } from './model.js';
import { RULES } from './rules/index.js';

const BY_CODE: ReadonlyMap<string, Rule> = new Map(RULES.map((rule) => [rule.code, rule]));

/** Undefined: no rule has the code, as of a release that had one more. */
export const ruleOf = (code: string): Rule | undefined => BY_CODE.get(code);

const aliasesOf = ({ aliases = {} }: Rule): string[] =>
  Object.entries(aliases).flatMap(([tool, names]: [string, readonly string[]]) =>
    names.map((name) => `${tool}:${name}`),
  );

type Said = Pick<Finding, 'why' | 'safer' | 'aliases'>;

/** What every finding of a rule says. */
const SAID: ReadonlyMap<Rule, Said> = new Map(
  RULES.map((rule) => [rule, { why: rule.why, safer: { text: rule.safer }, aliases: aliasesOf(rule) }]),
);

/** What was noticed beside the rules: of an imported file, of the trash, of names. A code of another release is a warning. */
export function findingOf(noticed: Warning): Finding {
  const rule = BY_CODE.get(noticed.code);
  if (rule === undefined) return { ...noticed, level: 'warn', why: noticed.message, aliases: [] };
  const { code, collection, field, message } = noticed;
  return {
    code,
    level: rule.level,
    ...place(collection, field),
    message: visibleText(message),
    ...(SAID.get(rule) as Said),
  };
}

/** What a check of a rule saw. */
export function foundBy(rule: Rule, observed: Observed, planned: PlannedEvent, statement?: number): Finding {
  const { event, index } = planned;
  const { message, level = rule.level, collection = event.collection, object, safer, statistics } = observed;
  const field = observed.field === undefined ? event.field : observed.field;
  return {
    code: rule.code,
    level,
    ...place(collection, field ?? undefined),
    ...(object !== undefined && { object }),
    message: visibleText(message),
    event: index,
    ...(statement !== undefined && { statement }),
    ...(SAID.get(rule) as Said),
    ...(safer !== undefined && { safer }),
    ...(statistics !== undefined && { statistics }),
  };
}

const place = (collection: string | undefined, field: string | undefined): Pick<Finding, 'collection' | 'field'> => ({
  ...(collection !== undefined && { collection }),
  ...(field !== undefined && { field }),
});

/** As they are shown where the plan is not: an index into it would say nothing. */
export const withoutPlaces = <F extends Finding>(findings: readonly F[]): Omit<F, 'event' | 'statement'>[] =>
  findings.map(({ event: _event, statement: _statement, ...finding }) => finding);
