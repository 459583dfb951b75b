/** The words for members of a policy, on its page and in change requests. */
import type { Policy } from '../service/operations-queries.js';
import { inLanguage } from './language.js';

export const POLICY_WORDS = inLanguage(
  {
    approvals: 'Required approvals',
    online_above_rows: 'Online above this row count',
    author_may_approve: 'Authors can approve their own requests',
    requires_reason: 'Every change needs a reason',
    policy_changes: 'Changes to this policy',
  },
  {
    approvals: 'Erforderliche Genehmigungen',
    online_above_rows: 'Online ab dieser Zeilenzahl',
    author_may_approve: 'Antragsteller dürfen eigene Anträge genehmigen',
    requires_reason: 'Jede Änderung braucht einen Grund',
    policy_changes: 'Änderungen dieser Richtlinie',
  },
);

export const POLICY_CHANGE_WORDS = inLanguage<Readonly<Record<Policy['policy_changes'], string>>>(
  {
    free: 'free',
    acknowledge: 'must be acknowledged if they loosen it',
    approve: 'require approval',
  },
  {
    free: 'frei',
    acknowledge: 'müssen bestätigt werden, wenn sie lockern',
    approve: 'brauchen eine Genehmigung',
  },
);

export const ACTION_WORDS = inLanguage<Readonly<Record<Policy['findings'][string], string>>>(
  {
    off: 'hidden',
    note: 'shown as a note',
    warn: 'shown as a warning',
    acknowledge: 'must be acknowledged',
    approve: 'requires approval',
    refuse: 'rejected',
  },
  {
    off: 'ausgeblendet',
    note: 'als Hinweis angezeigt',
    warn: 'als Warnung angezeigt',
    acknowledge: 'muss bestätigt werden',
    approve: 'braucht eine Genehmigung',
    refuse: 'abgelehnt',
  },
);

/** The action for a finding that a policy does not mention. */
export const BY_LEVEL = inLanguage<string>('default for its level', 'Standard seiner Stufe');
