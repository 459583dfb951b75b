/** The pages of the navigation, and the roles that see them. */
import schemaIcon from 'icon:account_tree';
import objectsIcon from 'icon:function';
import timelineIcon from 'icon:history';
import reviewIcon from 'icon:rule';
import accountsIcon from 'icon:group';
import referenceIcon from 'icon:api';
import operationsIcon from 'icon:monitor_heart';
import { MAY, type Info, type Role } from '../service/types.js';

export interface PageEntry {
  to: '/' | '/objects' | '/review' | '/timeline' | '/operations' | '/accounts' | '/api';
  /** Query parameters of the page's address. */
  search?: { bring: true } | { new: true };
  label: string;
  icon: string;
  roles: readonly Role[];
  /** Shown only if the service manages objects. */
  needsObjects?: true;
}

/** @param info undefined until the service responds */
export const isOffered = ({ roles, needsObjects }: PageEntry, role: Role, info: Info | undefined): boolean =>
  roles.includes(role) && (needsObjects !== true || info?.objects === true);

const EVERYBODY: readonly Role[] = ['admin', 'auditor', 'author', 'reader'];

export const PAGES: readonly PageEntry[] = [
  { to: '/', label: 'Schema', icon: schemaIcon, roles: EVERYBODY },
  { to: '/objects', label: 'Objects', icon: objectsIcon, roles: EVERYBODY, needsObjects: true },
  { to: '/review', label: 'Review', icon: reviewIcon, roles: MAY.readRequests },
  { to: '/timeline', label: 'Timeline', icon: timelineIcon, roles: MAY.readHistory },
  { to: '/operations', label: 'Operations', icon: operationsIcon, roles: MAY.readOperations },
  { to: '/accounts', label: 'Accounts', icon: accountsIcon, roles: MAY.administer },
  { to: '/api', label: 'API', icon: referenceIcon, roles: EVERYBODY },
];

/** Actions that the search also offers. */
export const ACTIONS: readonly PageEntry[] = [
  { to: '/review', search: { bring: true }, label: 'Import a snapshot', icon: reviewIcon, roles: MAY.propose },
  {
    to: '/review',
    search: { bring: true },
    label: 'Go back to a point in time',
    icon: reviewIcon,
    roles: MAY.readRequests,
  },
  { to: '/accounts', search: { new: true }, label: 'Add user', icon: accountsIcon, roles: MAY.administer },
];

/** Subpages with their own address, which ⌘K finds too. */
export const PARTS: readonly { to: string; label: string; of: string; roles: readonly Role[] }[] = [
  {
    to: '/operations/checks',
    label: 'Checks: doctor, verification, drift',
    of: 'Operations',
    roles: MAY.readOperations,
  },
  { to: '/operations/changes', label: 'Change requests', of: 'Operations', roles: MAY.readOperations },
  {
    to: '/operations/policy',
    label: 'Policy: approvals and rejected changes',
    of: 'Operations',
    roles: MAY.readOperations,
  },
  { to: '/operations/trash', label: 'Trash', of: 'Operations', roles: MAY.readOperations },
  { to: '/operations/adopt', label: 'Adopt tables', of: 'Operations', roles: MAY.administer },
  { to: '/operations/webhooks', label: 'Webhooks', of: 'Operations', roles: MAY.administer },
  { to: '/operations/trust', label: 'Trust rules of pipelines', of: 'Operations', roles: MAY.readOperations },
  { to: '/operations/metrics', label: 'Metrics', of: 'Operations', roles: MAY.readOperations },
  { to: '/docs', label: 'Guides', of: 'API', roles: EVERYBODY },
];
