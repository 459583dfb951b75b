import addIcon from 'icon:person_add';
import { Badge, Button, Group, Text, Title, Modal, Stack } from '@mantine/core';
import { useInfiniteQuery, useQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, getRouteApi } from '@tanstack/react-router';
import {
  usersQuery,
  ACCOUNTS,
  removeToken,
  tokensQuery,
  endSession,
  endSessions,
  sessionsQuery,
} from '../../service/account-queries.js';
import { itemsIn } from '../../service/request.js';
import type { User, Token, LiveSession } from '../../service/types.js';
import { QueryResult, LoadMoreButton, ProblemAlert } from '../../shared/problem-alert.js';
import { Glyph } from '../../shared/glyph.js';
import { Page, useTitle } from '../../shared/page.js';
import { Time } from '../../shared/time.js';
import { NewToken, UserDialog } from './dialogs.js';
import classes from './page.module.css';
import { latestQuery } from '../../service/history-queries.js';
import { abbreviate, scopeText } from '../../shared/text.js';
import { ConfirmButton } from '../../shared/buttons.js';
import { ownSessionId } from '../../service/session.js';
import { locale } from '../../shared/language.js';
import { messages } from './messages.js';

/** Shows the tokens of a user with names and expiry, never their values. It closes only by its button and Escape. */
function TokensDialog({ user, onClose }: { user: User; onClose: () => void }) {
  const tokens = useQuery(tokensQuery(user.id));
  return (
    // A click outside must not close it, because it could hide the token, which is shown only once.
    <Modal
      opened
      closeOnClickOutside={false}
      onClose={onClose}
      title={messages.user.tokensOf(user.name)}
      closeButtonProps={{ 'aria-label': messages.page.close }}
    >
      <Stack>
        <QueryResult query={tokens} label={messages.tokens.loading}>
          {(tokenList) =>
            tokenList.length === 0 ? (
              <None />
            ) : (
              tokenList.map((each) => <TokenLine key={each.id} user={user} token={each} />)
            )
          }
        </QueryResult>
        <NewToken user={user} />
      </Stack>
    </Modal>
  );
}

const None = () => (
  <Text size="sm" c="dimmed">
    {messages.tokens.none}
  </Text>
);

function TokenLine({ user, token }: { user: User; token: Token }) {
  const { id, name, created_at: since, expires_at: until, scope } = token;
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => removeToken(user.id, id),
    onSuccess: () => client.invalidateQueries({ queryKey: [ACCOUNTS] }),
  });
  return (
    <div className={classes.token}>
      <div>
        <Text size="sm" fw={550}>
          {name}
        </Text>
        <Text size="xs" c="dimmed">
          {until === null
            ? messages.tokens.created(<Time at={since} />)
            : messages.tokens.createdUntil(<Time at={since} />, <Time at={until} />)}
        </Text>
        {scope !== null && (
          <Text size="xs" c="dimmed">
            {scopeText(scope)}
          </Text>
        )}
        {revoke.error !== null && <ProblemAlert error={revoke.error} />}
      </div>
      <ConfirmButton
        size="xs"
        label={messages.tokens.revoke}
        sure={messages.tokens.confirmRevoke}
        about={name}
        loading={revoke.isPending}
        onConfirm={() => revoke.mutate()}
      />
    </div>
  );
}

/* Shows the latest changes by a user, one line each. */

/** The data is requested when the part is opened. Shows a message if the user has changed nothing. */
function Lately({ user }: { user: User }) {
  const { data, error } = useQuery(latestQuery(user.id));
  if (error !== null) return <ProblemAlert error={error} />;
  if (data === undefined) return null;
  return (
    <div className={classes.lately}>
      {data.length === 0 && (
        <Text size="sm" c="dimmed">
          {messages.user.noChanges}
        </Text>
      )}
      <ul>
        {data.map(({ batch, summary, reason, occurred_at: at }) => (
          <li key={batch}>
            <Link to="/timeline" search={{ batch }}>
              <Time at={at} />
            </Link>{' '}
            {abbreviate(summary, 160)}
            {reason !== null && `: ${abbreviate(reason, 120)}`}
          </li>
        ))}
      </ul>
      {data.length > 0 && (
        <Link to="/timeline" search={{ actor: user.id }}>
          {messages.user.allChanges(user.name)}
        </Link>
      )}
    </div>
  );
}

/** `invite` opens the form of the user with the choice of an invitation link. */
type UserAction = 'user' | 'invite' | 'tokens';

type OpenDialog = { what: 'new' } | { what: UserAction; user: User } | null;

const route = getRouteApi('/accounts');

const NEW: OpenDialog = { what: 'new' };

/** Milliseconds between refetches while an invitation is open. */
const INVITED_EVERY = 5_000;

const hasInvitation = (pages: readonly { data: readonly User[] }[] = []): boolean =>
  pages.some(({ data }) => data.some(({ invitation_expires_at: until }) => until !== null));

/**
 * Shows users by e-mail address, a hundred per page, and active sessions below. Only admins may see the page. Other
 * users see the error.
 */
export function AccountsPage() {
  useTitle(messages.page.title);
  const users = useInfiniteQuery({
    ...usersQuery(),
    // Shows soon that an invited user has signed in.
    refetchInterval: ({ state: { data } }) => (hasInvitation(data?.pages) ? INVITED_EVERY : false),
  });
  const { new: isNew } = route.useSearch();
  const navigate = route.useNavigate();
  const [opened, setOpen] = useState<OpenDialog>(null);
  const open = isNew === true ? NEW : opened;
  const close = () => {
    setOpen(null);
    if (isNew === true) void navigate({ search: {}, replace: true });
  };
  return (
    <Page>
      <Group justify="space-between" mb="lg">
        <Title order={1} size="h3">
          {messages.page.title}
        </Title>
        <Button leftSection={<Glyph path={addIcon} />} onClick={() => setOpen({ what: 'new' })}>
          {messages.page.newUser}
        </Button>
      </Group>
      <QueryResult query={users} label={messages.page.loading}>
        {(accounts) => (
          <>
            <ul className={classes.users} aria-label={messages.page.users}>
              {itemsIn(accounts.pages).map((user) => (
                <UserLine key={user.id} user={user} onOpen={(what) => setOpen({ what, user })} />
              ))}
            </ul>
            <LoadMoreButton of={users}>
              {messages.page.showMore((accounts.pages[0]?.meta.filter_count ?? 0).toLocaleString(locale))}
            </LoadMoreButton>
            <SessionsPart />
          </>
        )}
      </QueryResult>
      {open?.what === 'new' && <UserDialog user={null} onClose={close} />}
      {open?.what === 'user' && <UserDialog user={open.user} onClose={close} />}
      {open?.what === 'invite' && <UserDialog user={open.user} isInviting onClose={close} />}
      {open?.what === 'tokens' && <TokensDialog user={open.user} onClose={close} />}
    </Page>
  );
}

function UserLine({ user, onOpen }: { user: User; onOpen: (what: UserAction) => void }) {
  const { name, email, role, status, created_at: since, invitation_expires_at: invitedUntil } = user;
  const [isOpen, setOpen] = useState(false);
  return (
    <li className={classes.user}>
      <div className={classes.who}>
        <Text fw={600}>{name}</Text>
        <Text size="sm" c="dimmed">
          {name === email
            ? messages.user.created(<Time at={since} />)
            : messages.user.createdWithEmail(email, <Time at={since} />)}
        </Text>
        {invitedUntil !== null && <InvitationState until={invitedUntil} />}
      </div>
      <Group gap={6}>
        <Badge variant="default" tt="none" fw={550}>
          {role}
        </Badge>
        {status === 'suspended' && (
          <Badge variant="outline" color="red" tt="none" fw={550} className={classes.suspended}>
            {messages.user.suspended}
          </Badge>
        )}
      </Group>
      <Group gap="xs">
        <Button
          variant="subtle"
          size="xs"
          aria-expanded={isOpen}
          aria-label={messages.user.activityOf(name)}
          onClick={() => setOpen(!isOpen)}
        >
          {messages.user.activity}
        </Button>
        {invitedUntil !== null && (
          <Button
            variant="default"
            size="xs"
            onClick={() => onOpen('invite')}
            aria-label={messages.user.inviteAgainNamed(name)}
          >
            {messages.user.inviteAgain}
          </Button>
        )}
        <Button variant="default" size="xs" onClick={() => onOpen('tokens')} aria-label={messages.user.tokensOf(name)}>
          {messages.user.tokens}
        </Button>
        <Button variant="default" size="xs" onClick={() => onOpen('user')} aria-label={messages.user.editNamed(name)}>
          {messages.user.edit}
        </Button>
      </Group>
      {isOpen && <Lately user={user} />}
    </li>
  );
}

/** @param props.until when the link of the invitation expires, ISO 8601 */
function InvitationState({ until }: { until: string }) {
  const isExpired = Date.parse(until) <= Date.now();
  return (
    <Text size="sm" {...(isExpired && { className: classes.suspended })}>
      {isExpired
        ? messages.user.invitationExpired(<Time at={until} as="day" />)
        : messages.user.invited(<Time at={until} as="day" />)}
    </Text>
  );
}

/** Describes common clients by their User-Agent. The full text is a tooltip. */

const BROWSERS: readonly [sign: RegExp, name: string][] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrom(?:e|ium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];

const SYSTEMS: readonly [sign: RegExp, name: string][] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux|X11/, 'Linux'],
];

const LONGEST = 60;

/**
 * Returns a string such as `Firefox on Linux`. An unknown client is shown as sent, truncated to 60 characters.
 * @param agent the `User-Agent`. Null if none was sent
 */
function clientOf(agent: string | null): string {
  if (agent === null) return messages.sessions.unknownClient;
  const browser = BROWSERS.find(([sign]) => sign.test(agent))?.[1];
  const system = SYSTEMS.find(([sign]) => sign.test(agent))?.[1];
  if (browser !== undefined) return system === undefined ? browser : messages.sessions.browserOn(browser, system);
  return agent.length > LONGEST ? `${agent.slice(0, LONGEST)}…` : agent;
}

/** Shows sessions by user, most recently used first. If users end their own session, the login is shown. */
function SessionsPart() {
  const sessions = useInfiniteQuery(sessionsQuery());
  return (
    <section aria-labelledby="sessions">
      <Title order={2} size="h5" id="sessions" mt="xl">
        {messages.sessions.title}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {messages.sessions.help}
      </Text>
      <QueryResult query={sessions} label={messages.sessions.loading}>
        {({ pages }) => (
          <>
            <Sessions sessions={itemsIn(pages)} />
            <LoadMoreButton of={sessions}>
              {messages.sessions.showMore((pages[0]?.meta.filter_count ?? 0).toLocaleString(locale))}
            </LoadMoreButton>
          </>
        )}
      </QueryResult>
    </section>
  );
}

function Sessions({ sessions }: { sessions: readonly LiveSession[] }) {
  if (sessions.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {messages.sessions.none}
      </Text>
    );
  return (
    <ul className={classes.users} aria-labelledby="sessions">
      {byUser(sessions).map((each) => (
        <UserSessions key={each[0].user.id} sessions={each} />
      ))}
    </ul>
  );
}

type NonEmptySessions = [LiveSession, ...LiveSession[]];

/** Groups sessions by user. Users and their sessions are sorted by last use, newest first. */
function byUser(sessions: readonly LiveSession[]): NonEmptySessions[] {
  const groups = new Map<string, NonEmptySessions>();
  for (const session of sessions) {
    const before = groups.get(session.user.id);
    if (before === undefined) groups.set(session.user.id, [session]);
    else before.push(session);
  }
  return [...groups.values()];
}

function UserSessions({ sessions }: { sessions: NonEmptySessions }) {
  const [{ user }] = sessions;
  const end = useEnding(() => endSessions(user.id));
  return (
    <li className={classes.sessions}>
      <Group justify="space-between">
        <Text fw={600}>{user.name}</Text>
        {sessions.length > 1 && (
          <ConfirmButton
            size="xs"
            label={messages.sessions.endAll}
            sure={messages.sessions.confirmEndAll}
            about={user.name}
            loading={end.isPending}
            onConfirm={() => end.mutate()}
          />
        )}
      </Group>
      {end.error !== null && <ProblemAlert error={end.error} />}
      {sessions.map((each) => (
        <Line key={each.id} session={each} />
      ))}
    </li>
  );
}

function Line({ session }: { session: LiveSession }) {
  const { id, user, created_at: since, used_at: used, expires_at: until, network, user_agent: agent } = session;
  const end = useEnding(() => endSession(id));
  const client = clientOf(agent);
  const times = [<Time at={since} />, <Time at={used} />, <Time at={until} />] as const;
  return (
    <div className={classes.token}>
      <div>
        <Group gap={8}>
          <Text size="sm" fw={550} title={agent ?? undefined}>
            {client}
          </Text>
          {id === ownSessionId() && (
            <Badge size="sm" variant="default" tt="none" fw={500}>
              {messages.sessions.this}
            </Badge>
          )}
        </Group>
        <Text size="xs" c="dimmed">
          {network === null ? messages.sessions.times(...times) : messages.sessions.timesFrom(network, ...times)}
        </Text>
        {end.error !== null && <ProblemAlert error={end.error} />}
      </div>
      <ConfirmButton
        size="xs"
        label={messages.sessions.end}
        sure={messages.sessions.confirmEnd}
        about={messages.sessions.ofUser(client, user.name)}
        loading={end.isPending}
        onConfirm={() => end.mutate()}
      />
    </div>
  );
}

function useEnding(work: () => Promise<unknown>) {
  const client = useQueryClient();
  return useMutation({ mutationFn: work, onSettled: () => client.invalidateQueries({ queryKey: [ACCOUNTS] }) });
}
