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
import { isEmpty } from '../draft/model.js';
import { useDraft } from '../draft/store.js';
import { toApproveQuery, notificationsQuery, type ChangeNotification } from '../service/change-queries.js';
import { countFaults, useScheduledFaults } from '../service/operations-queries.js';
import { CHANGE, SCHEMA, infoQuery } from '../service/queries.js';
import { useMay, useRole, currentUserId, signOut, useSession } from '../service/session.js';
import { hasAbility, type Info } from '../service/types.js';
import { DATA_LOST, type LastApplied, noteApplied, useLastApplied } from '../shared/last-applied.js';
import { deleteStored, storeValue, useStored } from '../shared/browser-storage.js';
import { Glyph } from '../shared/glyph.js';
import { visibleName } from '../shared/name.js';
import { usePageTitle } from '../shared/page.js';
import { OwnPasswordForm } from '../shared/password.js';
import { LoadingIndicator, ProblemAlert } from '../shared/problem-alert.js';
import { abbreviate } from '../shared/text.js';
import { Time } from '../shared/time.js';
import { PAGES, Tour, isOffered } from './navigation.js';
import { Search, openSearch } from './search.js';
import classes from './shell.module.css';
import barClasses from './top-bar.module.css';
import noticeClasses from './undo-notice.module.css';
import { changeLanguage, language, LANGUAGES } from '../shared/language.js';
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

/**
 * Milliseconds between two polls. Polling is cheaper than a connection per tab, and a browser allows only six
 * connections.
 */
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
        {messages.shell.skip}
      </Anchor>
      <nav className={classes.rail} aria-label={messages.shell.pages}>
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
          <Suspense>{isRead ? <Outlet /> : <LoadingIndicator label={messages.shell.loadingDraft} />}</Suspense>
        </PageBoundary>
      </main>
      <div className={classes.notices}>
        <UndoNotice info={info} />
        <Tour />
      </div>
      {hasAbility(role, 'propose') && <DraftBar />}
    </div>
  );
}

/** The number of change requests that wait for the user's approval. */
function ToApprove() {
  const { data = 0 } = useQuery({ ...toApproveQuery(), enabled: useMay('carryOut') });
  return <EntryCount count={data} words={messages.counts.toApprove(data)} />;
}

/** The number of faults that scheduled comparisons found. */
function Faults() {
  const count = countFaults(useScheduledFaults(useMay('readOperations')));
  return <EntryCount count={count} words={messages.counts.faults(count)} />;
}

function EntryCount({ count, words }: { count: number; words: string }) {
  if (count === 0) return null;
  return (
    <span className={classes.count} title={words}>
      <span aria-hidden="true">{count > MOST_COUNTED ? `${MOST_COUNTED}+` : count}</span>
      <VisuallyHidden component="span">{`, ${words}`}</VisuallyHidden>
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
 * Renders nothing if there was no recent apply in this tab, after it was dismissed or the schema has changed again, and
 * on the review page, which offers this itself. A draft has its own "Undo", so the notice offers none until it ends.
 */
function UndoNotice({ info }: { info: Info | undefined }) {
  const applied = useLastApplied();
  const isFollowed = useIsFollowed(applied, info);
  const { draft } = useDraft();
  // The review page offers the same itself.
  const isReview = useLocation({ select: ({ pathname }) => pathname === '/review' });
  if (applied === null || isFollowed || isReview) return null;
  return (
    <section className={noticeClasses.notice} aria-label={messages.undo.title} role="status">
      <Text size="sm">
        {messages.undo.applied}
        {applied.isDataLost && ` ${DATA_LOST}`}{' '}
        <Link to="/review" search={{ done: applied.batch }}>
          {messages.undo.showChanges}{' '}
        </Link>
      </Text>
      {isEmpty(draft) && (
        <Button
          size="xs"
          variant="default"
          renderRoot={(props) => <Link {...props} to="/review" search={{ to: applied.before }} />}
        >
          {messages.undo.undo}
        </Button>
      )}
      <CloseButton size="sm" aria-label={messages.undo.dismiss} onClick={() => noteApplied(null)} />
    </section>
  );
}

/** True if the schema has changed since the apply. Other events, such as comments, change only the position. */
function useIsFollowed(applied: LastApplied | null, info: Info | undefined): boolean {
  const [seen, setSeen] = useState<{ applied: LastApplied; hash: string } | null>(null);
  if (applied === null || info === undefined || info.position < applied.after) return false;
  const isNew = seen?.applied !== applied;
  // Whatever happened between the apply and the first look at the schema, the notice must not undo it.
  if (isNew && info.position > applied.after) return true;
  if (isNew) setSeen({ applied, hash: info.hash });
  return !isNew && seen.hash !== info.hash;
}

const SCHEMES = [
  { value: 'light', label: messages.account.light, icon: lightIcon },
  { value: 'dark', label: messages.account.dark, icon: darkIcon },
  { value: 'auto', label: messages.account.system, icon: deviceIcon },
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
        <UnstyledButton aria-label={messages.account.menu(name)}>
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
        <Menu.Label>{messages.account.theme}</Menu.Label>
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
        <Menu.Label>{messages.account.language}</Menu.Label>
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
            {messages.account.changePassword}
          </Menu.Item>
        )}
        <Menu.Item leftSection={<Glyph path={outIcon} size={18} />} onClick={() => void signOut()}>
          {messages.account.signOut}
        </Menu.Item>
        <Menu.Item leftSection={<Glyph path={forgetIcon} size={18} />} onClick={() => void signOutAndForget()}>
          {messages.account.signOutAndForget}
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
    <Modal
      opened
      onClose={onClose}
      title={messages.account.changePassword}
      closeButtonProps={{ 'aria-label': messages.shell.close }}
    >
      <OwnPasswordForm user={session.user} hint={messages.account.passwordHint} onChanged={onClose} />
    </Modal>
  );
}

/**
 * Deletes stored data to protect users of shared computers. If the browser cannot delete it, the user is still signed
 * out.
 */
async function signOutAndForget(): Promise<void> {
  // Loaded only now, because the first view does not need the form that stores the files.
  const uploads = import('../pages/review/sources/upload.js');
  await Promise.allSettled([uploads.then(({ deleteFiles }) => deleteFiles()), deleteStored(currentUserId())]);
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
 * @param props.info undefined until the service responds. Until then, the head of the log is not shown @param
 * props.isLost true if the service does not respond. A message then replaces the head
 */
function TopBar({ info, isLost }: { info: Info | undefined; isLost: boolean }) {
  const title = usePageTitle();
  const [isPasswordOpen, setPasswordOpen] = useState(false);
  const openPassword = useCallback(() => setPasswordOpen(true), []);
  useDocumentTitle(title === '' ? messages.shell.product : `${title} · ${messages.shell.product}`);
  return (
    <section className={barClasses.bar} aria-label={messages.shell.bar}>
      <UnstyledButton className={barClasses.search} onClick={openSearch} aria-keyshortcuts="Meta+K Control+K">
        <Glyph path={searchIcon} size={18} />
        <Text component="span" size="sm" className={barClasses.hint}>
          {messages.shell.search}
        </Text>
        <Kbd size="xs" className={barClasses.hint} aria-hidden="true">
          {messages.shell.keys(IS_MAC)}
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
    <Tooltip label={messages.shell.release(info.release, info.database_version)} withArrow>
      <Badge variant="default" tt="none" fw={500} leftSection={<span className={barClasses.live} />}>
        {messages.shell.head(info.position)}
      </Badge>
    </Tooltip>
  );
}

function Lost() {
  return (
    <Badge color="red" variant="filled" tt="none" fw={500}>
      {messages.shell.offline}
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
            aria-label={unread === 0 ? messages.notifications.title : messages.notifications.unread(unread)}
          >
            <Glyph path={notificationsIcon} size={22} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown mah="70vh" style={{ overflowY: 'auto' }}>
          <Menu.Label>
            {notifications.length === 0 ? messages.notifications.none : messages.notifications.yours}
          </Menu.Label>
          {notifications.map((each) => (
            <Entry key={`${each.id} ${each.at} ${each.what}`} notification={each} isUnread={each.at > seen} />
          ))}
        </Menu.Dropdown>
      </Menu>
    </Indicator>
  );
}

function Entry({ notification, isUnread }: { notification: ChangeNotification; isUnread: boolean }) {
  const { id, title, what, by, at } = notification;
  const request = messages.notifications.request(visibleName(abbreviate(title, 80)));
  const who = by === null ? '' : visibleName(abbreviate(actorName(by), 40));
  return (
    <Menu.Item renderRoot={(props) => <Link {...props} to="/review" search={{ change: id }} />}>
      <Text size="sm" fw={isUnread ? 600 : 400}>
        {messages.notifications[what](request, who)}
      </Text>
      <Text size="xs" c="dimmed">
        <Time at={at} />
      </Text>
    </Menu.Item>
  );
}
