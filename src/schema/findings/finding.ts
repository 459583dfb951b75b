/** Combines an observation with the text of its rule. All findings are created here. */
import { visibleText } from '../../kernel/text.js';
import type { Warning } from '../../kernel/warning.js';
import type { Finding, Observed, PlannedEvent, Rule } from './model.js';
import { RULES } from './rules/index.js';

const BY_CODE: ReadonlyMap<string, Rule> = new Map(RULES.map((rule) => [rule.code, rule]));

/** Undefined if no rule has the code, for example if another release had it. */
export const ruleOf = (code: string): Rule | undefined => BY_CODE.get(code);

const aliasesOf = ({ aliases = {} }: Rule): string[] =>
  Object.entries(aliases).flatMap(([tool, names]: [string, readonly string[]]) =>
    names.map((name) => `${tool}:${name}`),
  );

type Said = Pick<Finding, 'why' | 'safer' | 'aliases'>;

/** The text that all findings of a rule share. */
const SAID: ReadonlyMap<Rule, Said> = new Map(
  RULES.map((rule) => [rule, { why: rule.why, safer: { text: rule.safer }, aliases: aliasesOf(rule) }]),
);

/** Converts warnings found outside the rules: about imports, the trash or names. An unknown code becomes a warning. */
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

/** Converts the observation of a rule's check. */
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

/** Removes plan indexes, which are meaningless without the plan. */
export const withoutPlaces = <F extends Finding>(findings: readonly F[]): Omit<F, 'event' | 'statement'>[] =>
  findings.map(({ event: _event, statement: _statement, ...finding }) => finding);
