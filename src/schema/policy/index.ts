/** What may be done to a schema without asking, and what of a change a policy stops. */
export {
  ACTIONS,
  DEFAULT_POLICY,
  POLICY_SUBJECT,
  isEnforced,
  isStopping,
  type Action,
  type Actions,
  type CollectionRule,
  type Policy,
} from './model.js';
export { foldPolicy, policyUpdated } from './fold.js';
export { actionOf, byAction, judged, placeOf, type Acknowledgement, type Found, type Judged } from './decide.js';
