/** The pages of the navigation, and the roles that see them. */
import { Kbd, Modal, Table } from '@mantine/core';
import schemaIcon from 'icon:account_tree';
import referenceIcon from 'icon:api';
import objectsIcon from 'icon:function';
import accountsIcon from 'icon:group';
import timelineIcon from 'icon:history';
import operationsIcon from 'icon:monitor_heart';
import reviewIcon from 'icon:rule';
import { useEffect } from 'react';
import { isTyping } from '../pages/schema/replay/use-replay.js';
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
  { to: '/operations/environments', label: 'Environments', of: 'Operations', roles: MAY.administer },
  { to: '/operations/trust', label: 'Trust rules of pipelines', of: 'Operations', roles: MAY.readOperations },
  { to: '/operations/metrics', label: 'Metrics', of: 'Operations', roles: MAY.readOperations },
  { to: '/docs', label: 'Guides', of: 'API', roles: EVERYBODY },
];

/* The list of keyboard shortcuts. */

/** The keys of each shortcut. */
const SHORTCUTS: readonly { label: string; keys: readonly string[] }[] = [
  { label: 'Search and run commands', keys: ['⌘K', 'Ctrl K'] },
  { label: 'Show this list', keys: ['?'] },
  { label: 'Move through the collection tree', keys: ['↑', '↓', '←', '→'] },
  { label: 'Open a collection in the tree', keys: ['Enter'] },
  { label: 'Change the order of collections', keys: ['Alt ↑', 'Alt ↓'] },
  { label: 'Go to the previous or next change in the replay', keys: [',', '.'] },
  { label: 'Play or pause the replay', keys: ['k'] },
  { label: 'Go to the first or last change of a review', keys: ['Home', 'End'] },
];

/** Shows the shortcuts. It opens on `?`, unless an input or a dialog has the focus. */
export function Shortcuts({ isOpen, onChange }: { isOpen: boolean; onChange: (isOpen: boolean) => void }) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== '?' || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
      event.preventDefault();
      onChange(true);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [onChange]);
  return (
    <Modal
      opened={isOpen}
      onClose={() => onChange(false)}
      title="Keyboard shortcuts"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Table aria-label="Keyboard shortcuts">
        <Table.Tbody>
          {SHORTCUTS.map(({ label, keys }) => (
            <Table.Tr key={label}>
              <Table.Th scope="row" fw={400}>
                {label}
              </Table.Th>
              <Table.Td>
                {keys.map((key) => (
                  <Kbd key={key} mr={6} style={{ whiteSpace: 'nowrap' }}>
                    {key}
                  </Kbd>
                ))}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
