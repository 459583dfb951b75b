/** Findings about a planned change, for reviewers. */
export { findingsOf } from './run-rules.js';
export { findingOf, ruleOf, withoutPlaces } from './finding.js';
export { questionsOf, type Known, type Plan, type Questions } from './planned-batch.js';
export { together } from './group-imported.js';
export { RULES } from './rules/index.js';
export { LEVELS, type Dependent, type Finding, type Level, type Rule, type TableStatistics } from './model.js';
