/** Findings about a planned change, for reviewers. */
export {
  findingsOf,
  questionsOf,
  type DatabaseFacts,
  type Plan,
  type DatabaseQuestions as Questions,
} from './planned-batch.js';
export { findingOf, ruleOf, withoutLocations as withoutPlaces, groupFindings as together } from './finding.js';
export { RULES } from './rules/index.js';
export {
  LEVELS,
  type Dependent,
  type Finding,
  type Inheritance,
  type Level,
  type Rule,
  type TableStatistics,
} from './model.js';
