import {
  Anchor,
  VisuallyHidden,
  Box,
  Button,
  CloseButton,
  Text,
  Badge,
  Group,
  Kbd,
  Tooltip,
  UnstyledButton,
  Menu,
  Modal,
  useMantineColorScheme,
  ActionIcon,
  Indicator,
} from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import brand from 'icon:account_tree';
import deviceIcon from 'icon:contrast';
import darkIcon from 'icon:dark_mode';
import forgetIcon from 'icon:delete';
import keyIcon from 'icon:key';
import lightIcon from 'icon:light_mode';
import outIcon from 'icon:logout';
import notificationsIcon from 'icon:notifications';
import searchIcon from 'icon:search';
import { Suspense, useCallback, useEffect, useRef, useState, Component, type ReactNode } from 'react';
import { actorName } from '../../schema/model/events.js';
import { DraftBar } from '../draft/draft-bar.js';
import { useDraft } from '../draft/store.js';
import { deleteFiles } from '../pages/review/sources/upload.js';
import { toApproveQuery, notificationsQuery, type ChangeNotification } from '../service/change-queries.js';
import { countFaults, useScheduledFaults } from '../service/operations-queries.js';
import { CHANGE, SCHEMA, infoQuery } from '../service/queries.js';
import { useMay, useRole, currentUserId, signOut, useSession } from '../service/session.js';
import { hasAbility, type Info } from '../service/types.js';
import { DATA_LOST, noteApplied, useLastApplied } from '../shared/applied.js';
import { deleteStored } from '../shared/browser-storage.js';
import { Glyph } from '../shared/glyph.js';
import { visibleName } from '../shared/name.js';
import { usePageTitle } from '../shared/page.js';
import { OwnPasswordForm } from '../shared/password.js';
import { LoadingIndicator, ProblemAlert } from '../shared/problem-alert.js';
import { counted, abbreviate } from '../shared/text.js';
import { Time } from '../shared/time.js';
import { storeValue, useStored } from '../shared/use-stored.js';
import { PAGES, isOffered } from './navigation.js';
import { Search, openSearch } from './search.js';
import classes from './shell.module.css';
import barClasses from './top-bar.module.css';
import { Tour } from './tour.js';
import noticeClasses from './undo-notice.module.css';
import { changeLanguage, language, LANGUAGES, locale } from '../shared/language.js';
import { messages } from './messages.js';

/* Keeps the frame of the app on the screen if a page cannot be loaded or rendered. */

interface State {
  error: Error | null;
}

/** Shows the error until a reload, on any address. */
class PageBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: Error): State {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <Box p="lg">
        <ProblemAlert error={error} retry={() => location.reload()} />
      </Box>
    );
  }
}

/* Notices new events and invalidates the queries that depend on them. */

/** Milliseconds between two polls. Polling is cheaper than a connection per tab, of which a browser allows six. */
const EVERY = 4_000;

/** Returns information about the service. Undefined until the service responds. */
function useLive(): { info: Info | undefined; isLost: boolean } {
  const client = useQueryClient();
  // Without retries, the app notices a lost connection after one request.
  const { data: info, isError } = useQuery({ ...infoQuery(), refetchInterval: EVERY, retry: false });
  // The browser may be offline while a service on this machine still responds. The browser's event therefore only
  // triggers a request.
  useEffect(() => {
    const check = () => void client.invalidateQueries({ queryKey: infoQuery().queryKey });
    for (const event of ['offline', 'online']) addEventListener(event, check);
    return () => {
      for (const event of ['offline', 'online']) removeEventListener(event, check);
    };
  }, [client]);
  const seen = useRef<string>(undefined);
  const head = info && `${info.position} ${info.hash}`;
  useEffect(() => {
    if (head === undefined) return;
    if (seen.current !== undefined && seen.current !== head) {
      void client.invalidateQueries({ queryKey: [SCHEMA] });
      // The log also contains the events of change requests.
      void client.invalidateQueries({ queryKey: [CHANGE] });
    }
    seen.current = head;
  }, [client, head]);
  return { info, isLost: isError };
}

/**
 * Shows the frame. It waits until the draft was read, so that no page renders without the draft. Entries that the role
 * may not see are hidden.
 */
export function Shell() {
  const role = useRole();
  const pathname = useLocation({ select: (location) => location.pathname });
  const { info, isLost } = useLive();
  const { isRead } = useDraft();
  return (
    <div className={classes.shell}>
      <Anchor href="#page" className={classes.skip}>
        Skip to content
      </Anchor>
      <nav className={classes.rail} aria-label="Pages">
        <span className={classes.mark}>
          <Glyph path={brand} size={22} />
        </span>
        {PAGES.filter((entry) => isOffered(entry, role, info)).map(({ to, label, icon }) => (
          <Link
            key={to}
            to={to}
            className={classes.entry}
            data-here={isAt(to, pathname) || undefined}
            aria-current={isAt(to, pathname) ? 'page' : undefined}
          >
            <Glyph path={icon} size={22} />
            <span>{label}</span>
            {to === '/review' && <ToApprove />}
            {to === '/operations' && <Faults />}
          </Link>
        ))}
      </nav>
      <TopBar info={info} isLost={isLost} />
      <main id="page" tabIndex={-1} className={classes.page}>
        <PageBoundary>
          <Suspense>{isRead ? <Outlet /> : <LoadingIndicator label="Loading your draft" />}</Suspense>
        </PageBoundary>
      </main>
      <div className={classes.notices}>
        <UndoNotice />
        <Tour />
      </div>
      {hasAbility(role, 'propose') && <DraftBar />}
    </div>
  );
}

/** The number of change requests that wait for the user's approval. */
function ToApprove() {
  const { data = 0 } = useQuery({ ...toApproveQuery(), enabled: useMay('carryOut') });
  const words = data === 1 ? '1 request waits for your approval' : `${data} requests wait for your approval`;
  return <EntryCount count={data} words={words} />;
}

/** The number of faults that scheduled comparisons found. */
function Faults() {
  const count = countFaults(useScheduledFaults(useMay('readOperations')));
  return <EntryCount count={count} words={`${counted(count, 'fault')} found by the scheduled comparison`} />;
}

function EntryCount({ count, words }: { count: number; words: string }) {
  if (count === 0) return null;
  return (
    <span className={classes.count} title={words}>
      <span aria-hidden="true">{count > MOST_COUNTED ? `${MOST_COUNTED}+` : count}</span>
      <VisuallyHidden component="span">, {words}</VisuallyHidden>
    </span>
  );
}

const MOST_COUNTED = 99;

/** Addresses that belong to a navigation entry, although they are not below its page. */
const BELONGS: Readonly<Record<string, readonly string[]>> = {
  '/': ['/collections/', '/new'],
  '/timeline': ['/verification'],
  '/api': ['/docs'],
};

const isAt = (to: string, pathname: string): boolean =>
  pathname === to ||
  (to !== '/' && pathname.startsWith(`${to}/`)) ||
  (BELONGS[to] ?? []).some((each) => pathname.startsWith(each));

/* Offers to revert an apply shortly afterwards, while that is easy. */

/**
 * Renders nothing if there was no recent apply in this tab, after it was dismissed, and on the review page, which
 * offers this itself.
 */
function UndoNotice() {
  const applied = useLastApplied();
  // The review page offers the same itself.
  const isReview = useLocation({ select: ({ pathname }) => pathname === '/review' });
  if (applied === null || isReview) return null;
  return (
    <section className={noticeClasses.notice} aria-label="Last change" role="status">
      <Text size="sm">
        Applied.{applied.isDataLost && ` ${DATA_LOST}`}{' '}
        <Link to="/review" search={{ done: applied.batch }}>
          Show changes{' '}
        </Link>
      </Text>
      <Button
        size="xs"
        variant="default"
        renderRoot={(props) => <Link {...props} to="/review" search={{ to: applied.before }} />}
      >
        Undo …
      </Button>
      <CloseButton size="sm" aria-label="Dismiss" onClick={() => noteApplied(null)} />
    </section>
  );
}

const SCHEMES = [
  { value: 'light', label: messages.light, icon: lightIcon },
  { value: 'dark', label: messages.dark, icon: darkIcon },
  { value: 'auto', label: messages.system, icon: deviceIcon },
] as const;

/** Renders nothing without a user. The browser stores the colour scheme, and not the account. */
function UserMenu({ onPassword }: { onPassword: () => void }) {
  const session = useSession();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  if (!('user' in session)) return null;
  const { name, email, role } = session.user;
  return (
    <Menu position="bottom-end" width={240} shadow="md" withinPortal={false} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <UnstyledButton aria-label={messages.accountMenu(name)}>
          <span className={barClasses.user} data-letters={lettersOf(name)} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} c="var(--mantine-color-text)" truncate>
            {name}
          </Text>
          <Text size="xs" c="dimmed" truncate>
            {name === email ? role : `${email} · ${role}`}
          </Text>
        </Menu.Label>
        <Menu.Divider />
        <Menu.Label>{messages.theme}</Menu.Label>
        {SCHEMES.map(({ value, label, icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Glyph path={icon} size={18} />}
            rightSection={colorScheme === value ? '✓' : undefined}
            aria-current={colorScheme === value}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Label>{messages.language}</Menu.Label>
        {LANGUAGES.map(({ value, label }) => (
          <Menu.Item
            key={value}
            lang={value}
            rightSection={language === value ? '✓' : undefined}
            aria-current={language === value}
            onClick={() => changeLanguage(value)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        {session.by === 'cookie' && (
          <Menu.Item leftSection={<Glyph path={keyIcon} size={18} />} onClick={onPassword}>
            {messages.changePassword}
          </Menu.Item>
        )}
        <Menu.Item leftSection={<Glyph path={outIcon} size={18} />} onClick={() => void signOut()}>
          {messages.signOut}
        </Menu.Item>
        <Menu.Item leftSection={<Glyph path={forgetIcon} size={18} />} onClick={() => void signOutAndForget()}>
          {messages.signOutAndForget}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** @param props.onClose also called after the password was changed */
function PasswordDialog({ onClose }: { onClose: () => void }) {
  const session = useSession();
  if (!('user' in session)) return null;
  return (
    <Modal opened onClose={onClose} title="Change password" closeButtonProps={{ 'aria-label': 'Close' }}>
      <OwnPasswordForm
        user={session.user}
        hint="All your other sessions end. API tokens stay valid."
        onChanged={onClose}
      />
    </Modal>
  );
}

/**
 * Deletes stored data to protect users of shared computers. If the browser cannot delete it, the user is still signed
 * out.
 */
async function signOutAndForget(): Promise<void> {
  await Promise.allSettled([deleteFiles(), deleteStored(currentUserId())]);
  await signOut();
}

/** Returns the initials of the first two words. */
function lettersOf(name: string): string {
  const words = name.split(/[\s.@_-]+/).filter((word) => word !== '');
  return words
    .slice(0, 2)
    .map((word) => Array.from(word)[0]?.toUpperCase() ?? '')
    .join('');
}

/**
 * Shows the bar and sets the title of the tab.
 * @param props.info undefined until the service responds. The head of the log is not shown then
 * @param props.isLost true if the service does not respond. A message then replaces the head
 */
function TopBar({ info, isLost }: { info: Info | undefined; isLost: boolean }) {
  const title = usePageTitle();
  const [isPasswordOpen, setPasswordOpen] = useState(false);
  const openPassword = useCallback(() => setPasswordOpen(true), []);
  useDocumentTitle(title === '' ? 'Data Platform' : `${title} · Data Platform`);
  return (
    <section className={barClasses.bar} aria-label="Search and account">
      <UnstyledButton className={barClasses.search} onClick={openSearch} aria-keyshortcuts="Meta+K Control+K">
        <Glyph path={searchIcon} size={18} />
        <Text component="span" size="sm" className={barClasses.hint}>
          Search collections, fields …
        </Text>
        <Kbd size="xs" className={barClasses.hint} aria-hidden="true">
          {IS_MAC ? '⌘' : 'Ctrl'} K
        </Kbd>
      </UnstyledButton>
      <Group gap="sm" wrap="nowrap">
        <div role="status">{isLost ? <Lost /> : info && <Head info={info} />}</div>
        <Notifications />
        <UserMenu onPassword={openPassword} />
      </Group>
      <Search onPassword={openPassword} />
      {isPasswordOpen && <PasswordDialog onClose={() => setPasswordOpen(false)} />}
    </section>
  );
}

const IS_MAC = navigator.userAgent.includes('Mac');

function Head({ info }: { info: Info }) {
  return (
    <Tooltip label={`Release ${info.release}, PostgreSQL ${info.database_version}`} withArrow>
      <Badge variant="default" tt="none" fw={500} leftSection={<span className={barClasses.live} />}>
        event {info.position.toLocaleString(locale)}
      </Badge>
    </Tooltip>
  );
}

function Lost() {
  return (
    <Badge color="red" variant="filled" tt="none" fw={500}>
      offline
    </Badge>
  );
}

/* A menu in the top bar with the actions of others on the user's change requests. */

/** The name under which the browser stores the time of the newest notification that the user has seen. */
const SEEN = 'seen';

/** Renders nothing for users who cannot open change requests. */
function Notifications() {
  const mayPropose = useMay('propose');
  const mayApply = useMay('carryOut');
  const { data: notifications = [] } = useQuery({
    ...notificationsQuery(currentUserId(), mayApply),
    enabled: mayPropose,
  });
  const seen = useStored(SEEN) ?? '';
  if (!mayPropose) return null;
  const unread = notifications.filter(({ at }) => at > seen).length;
  const [newest] = notifications;
  return (
    <Indicator label={unread} size={16} offset={4} disabled={unread === 0}>
      <Menu
        position="bottom-end"
        width={320}
        shadow="md"
        withinPortal={false}
        withInitialFocusPlaceholder={false}
        onClose={() => newest !== undefined && storeValue(SEEN, newest.at)}
      >
        <Menu.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={unread === 0 ? 'Notifications' : `Notifications, ${unread} unread`}
          >
            <Glyph path={notificationsIcon} size={22} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown mah="70vh" style={{ overflowY: 'auto' }}>
          <Menu.Label>{notifications.length === 0 ? EMPTY : 'Your change requests'}</Menu.Label>
          {notifications.map((each) => (
            <Entry key={`${each.id} ${each.at} ${each.what}`} notification={each} isUnread={each.at > seen} />
          ))}
        </Menu.Dropdown>
      </Menu>
    </Indicator>
  );
}

const EMPTY = 'No activity on your change requests in the last 7 days.';

const WORDS = {
  approved: 'approved',
  rejected: 'rejected',
  commented: 'commented on',
  applied: 'was applied',
  failed: 'failed',
} as const satisfies Record<ChangeNotification['what'], string>;

function Entry({ notification, isUnread }: { notification: ChangeNotification; isUnread: boolean }) {
  const { id, title, what, by, at } = notification;
  const request = `“${visibleName(abbreviate(title, 80))}”`;
  const who = by === null ? null : visibleName(abbreviate(actorName(by), 40));
  return (
    <Menu.Item renderRoot={(props) => <Link {...props} to="/review" search={{ change: id }} />}>
      <Text size="sm" fw={isUnread ? 600 : 400}>
        {who === null ? `${request} ${WORDS[what]}` : `${who} ${WORDS[what]} ${request}`}
      </Text>
      <Text size="xs" c="dimmed">
        <Time at={at} />
      </Text>
    </Menu.Item>
  );
}
