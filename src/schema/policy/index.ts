/** Policies decide which schema changes are allowed without review, and block others. */
export {
  ACTIONS,
  DEFAULT_POLICY,
  POLICY_CHANGES,
  POLICY_SUBJECT,
  isEnforced,
  isNamed,
  isOfPolicy,
  isStopping,
  type Action,
  type Policy,
} from '../model/policy.js';
export { foldPolicy, policyUpdated } from './fold.js';
export { loosenedBy, policyWarnings } from './loosening.js';
export { actionOf, byAction, judged, judgedAll, keyOf, type Acknowledgement, type Judged } from './decide.js';
