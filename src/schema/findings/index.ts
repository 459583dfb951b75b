/** What a reviewer should know of a planned change. */
export { findingsOf } from './judge.js';
export { findingOf, ruleOf, withoutPlaces } from './finding.js';
export { questionsOf, type Known, type Plan, type Questions } from './batch.js';
export { together } from './together.js';
export { RULES } from './rules/index.js';
export { LEVELS, type Dependent, type Finding, type Level, type Rule, type TableStatistics } from './model.js';
