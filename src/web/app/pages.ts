/** The pages that the rail leads to, and who may see them. */
import schemaIcon from 'icon:account_tree';
import timelineIcon from 'icon:history';
import reviewIcon from 'icon:rule';
import accountsIcon from 'icon:group';
import referenceIcon from 'icon:api';
import operationsIcon from 'icon:monitor_heart';
import { MAY } from '../service/abilities.js';
import type { Role } from '../service/types.js';

export interface PageEntry {
  to: '/' | '/review' | '/timeline' | '/operations' | '/accounts' | '/api';
  /** What its address says beside. */
  search?: { bring: true };
  label: string;
  /** The path of its icon. */
  icon: string;
  roles: readonly Role[];
}

const EVERYBODY: readonly Role[] = ['admin', 'auditor', 'author', 'reader'];

export const PAGES: readonly PageEntry[] = [
  { to: '/', label: 'Schema', icon: schemaIcon, roles: EVERYBODY },
  { to: '/review', label: 'Review', icon: reviewIcon, roles: MAY.readRequests },
  { to: '/timeline', label: 'Timeline', icon: timelineIcon, roles: MAY.readHistory },
  { to: '/operations', label: 'Operations', icon: operationsIcon, roles: MAY.readOperations },
  { to: '/accounts', label: 'Accounts', icon: accountsIcon, roles: MAY.administer },
  { to: '/api', label: 'API', icon: referenceIcon, roles: EVERYBODY },
];

/** What can be begun from the search as well. */
export const ACTIONS: readonly PageEntry[] = [
  { to: '/review', search: { bring: true }, label: 'Bring a snapshot in', icon: reviewIcon, roles: MAY.propose },
  { to: '/review', search: { bring: true }, label: 'Go back to a moment', icon: reviewIcon, roles: MAY.readRequests },
];

/** Parts of pages that have addresses of their own: what ⌘K finds beside the pages. */
export const PARTS: readonly { to: string; label: string; of: string; roles: readonly Role[] }[] = [
  {
    to: '/operations/checks',
    label: 'Checks: doctor, verification, drift',
    of: 'Operations',
    roles: MAY.readOperations,
  },
  { to: '/operations/changes', label: 'Under way: change requests', of: 'Operations', roles: MAY.readOperations },
  {
    to: '/operations/policy',
    label: 'Policy: what may be done without asking',
    of: 'Operations',
    roles: MAY.readOperations,
  },
  { to: '/operations/trash', label: 'Trash', of: 'Operations', roles: MAY.readOperations },
  { to: '/operations/adopt', label: 'Adopt tables', of: 'Operations', roles: MAY.administer },
  { to: '/operations/metrics', label: 'Metrics', of: 'Operations', roles: MAY.readOperations },
  { to: '/docs', label: 'Guides', of: 'API', roles: EVERYBODY },
];
