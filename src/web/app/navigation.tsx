/** The pages of the navigation, the roles that see them, the keyboard shortcuts, and the first steps. */
import { Anchor, Button, CloseButton, Kbd, Modal, Table, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import schemaIcon from 'icon:account_tree';
import referenceIcon from 'icon:api';
import objectsIcon from 'icon:function';
import accountsIcon from 'icon:group';
import timelineIcon from 'icon:history';
import operationsIcon from 'icon:monitor_heart';
import reviewIcon from 'icon:rule';
import { useEffect } from 'react';
import { isTyping } from '../pages/schema/replay/use-replay.js';
import { useRole } from '../service/session.js';
import { MAY, type Info, type Role } from '../service/types.js';
import { storeValue, useStored } from '../shared/browser-storage.js';
import { messages } from './messages.js';
import tourClasses from './tour.module.css';

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
  { to: '/', label: messages.pages.schema, icon: schemaIcon, roles: EVERYBODY },
  { to: '/objects', label: messages.pages.objects, icon: objectsIcon, roles: EVERYBODY, needsObjects: true },
  { to: '/review', label: messages.pages.review, icon: reviewIcon, roles: MAY.readRequests },
  { to: '/timeline', label: messages.pages.timeline, icon: timelineIcon, roles: MAY.readHistory },
  { to: '/operations', label: messages.pages.operations, icon: operationsIcon, roles: MAY.readOperations },
  { to: '/accounts', label: messages.pages.accounts, icon: accountsIcon, roles: MAY.administer },
  { to: '/api', label: messages.pages.api, icon: referenceIcon, roles: EVERYBODY },
];

/** Actions that the search also offers. */
export const ACTIONS: readonly PageEntry[] = [
  {
    to: '/review',
    search: { bring: true },
    label: messages.actions.importSnapshot,
    icon: reviewIcon,
    roles: MAY.propose,
  },
  {
    to: '/review',
    search: { bring: true },
    label: messages.actions.goBack,
    icon: reviewIcon,
    roles: MAY.readRequests,
  },
  {
    to: '/accounts',
    search: { new: true },
    label: messages.actions.addUser,
    icon: accountsIcon,
    roles: MAY.administer,
  },
];

/** Subpages with their own address, which ⌘K finds too. */
export const PARTS: readonly { to: string; label: string; of: string; roles: readonly Role[] }[] = [
  {
    to: '/operations/checks',
    label: messages.parts.checks,
    of: messages.pages.operations,
    roles: MAY.readOperations,
  },
  {
    to: '/operations/changes',
    label: messages.parts.changes,
    of: messages.pages.operations,
    roles: MAY.readOperations,
  },
  {
    to: '/operations/policy',
    label: messages.parts.policy,
    of: messages.pages.operations,
    roles: MAY.readOperations,
  },
  { to: '/operations/trash', label: messages.parts.trash, of: messages.pages.operations, roles: MAY.readOperations },
  { to: '/operations/adopt', label: messages.parts.adopt, of: messages.pages.operations, roles: MAY.administer },
  { to: '/operations/webhooks', label: messages.parts.webhooks, of: messages.pages.operations, roles: MAY.administer },
  {
    to: '/operations/environments',
    label: messages.parts.environments,
    of: messages.pages.operations,
    roles: MAY.administer,
  },
  { to: '/operations/trust', label: messages.parts.trust, of: messages.pages.operations, roles: MAY.readOperations },
  {
    to: '/operations/metrics',
    label: messages.parts.metrics,
    of: messages.pages.operations,
    roles: MAY.readOperations,
  },
  { to: '/docs', label: messages.parts.guides, of: messages.pages.api, roles: EVERYBODY },
];

/* The list of keyboard shortcuts. */

/** The keys of each shortcut. */
const SHORTCUTS: readonly { label: string; keys: readonly string[] }[] = [
  { label: messages.shortcuts.search, keys: messages.shortcuts.keys.search },
  { label: messages.shortcuts.list, keys: ['?'] },
  { label: messages.shortcuts.tree, keys: ['↑', '↓', '←', '→'] },
  { label: messages.shortcuts.open, keys: messages.shortcuts.keys.enter },
  { label: messages.shortcuts.order, keys: ['Alt ↑', 'Alt ↓'] },
  { label: messages.shortcuts.step, keys: [',', '.'] },
  { label: messages.shortcuts.play, keys: ['k'] },
  { label: messages.shortcuts.ends, keys: messages.shortcuts.keys.ends },
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
      title={messages.shortcuts.title}
      closeButtonProps={{ 'aria-label': messages.shell.close }}
    >
      <Table aria-label={messages.shortcuts.title}>
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

/* The first steps: shown below the page at the first sign-in of a user in this browser. */

interface Step {
  title: string;
  text: string;
  to: '/' | '/new' | '/review' | '/timeline' | '/docs';
  /** Absent for all roles. */
  roles?: readonly Role[];
}

const STEPS: readonly Step[] = [
  {
    title: messages.pages.schema,
    text: messages.tour.schema,
    to: '/',
  },
  {
    title: messages.tour.draft,
    text: messages.tour.draftText,
    to: '/new',
    roles: MAY.propose,
  },
  {
    title: messages.pages.review,
    text: messages.tour.review,
    to: '/review',
    roles: MAY.readRequests,
  },
  {
    title: messages.pages.timeline,
    text: messages.tour.timeline,
    to: '/timeline',
    roles: MAY.readHistory,
  },
  { title: messages.parts.guides, text: messages.tour.guides, to: '/docs' },
];

const FINISHED = 'finished';

/** The name under which the browser stores the number of the step, or `finished`. */
const STEP = 'tour';

const storeStep = (step: string): void => storeValue(STEP, step);

/** Starts the first steps again. */
export const startTour = (): void => storeStep('0');

/** Renders nothing after the user has finished or closed the tour in this browser. */
export function Tour() {
  const role = useRole();
  const stored = useStored(STEP) ?? '0';
  const steps = STEPS.filter(({ roles }) => roles?.includes(role) !== false);
  const index = Number(stored);
  const step = steps[index];
  if (step === undefined) return null;
  const isLast = index === steps.length - 1;
  return (
    <section className={tourClasses.tour} aria-label={messages.tour.title}>
      <Text size="sm" className={tourClasses.text} role="status">
        <Text component="span" c="dimmed" inherit>
          {messages.tour.position(index + 1, steps.length)}
        </Text>{' '}
        <Anchor inherit fw={600} renderRoot={(props) => <Link {...props} to={step.to} />}>
          {step.title}
        </Anchor>
        {`: ${step.text}`}
      </Text>
      {index > 0 && (
        <Button size="xs" variant="default" onClick={() => storeStep(String(index - 1))}>
          {messages.tour.previous}
        </Button>
      )}
      <Button size="xs" onClick={() => storeStep(isLast ? FINISHED : String(index + 1))}>
        {isLast ? messages.tour.finish : messages.tour.next}
      </Button>
      <CloseButton size="sm" aria-label={messages.tour.close} onClick={() => storeStep(FINISHED)} />
    </section>
  );
}
