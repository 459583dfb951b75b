import { Badge, Group, Text, Title } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { ACCOUNTS, endSession, endSessions, sessionsQuery } from '../../service/account-queries.js';
import { itemsIn } from '../../service/request.js';
import { ownSessionId } from '../../service/session.js';
import type { LiveSession } from '../../service/types.js';
import { Answered, More, ProblemAlert } from '../../shared/problem-alert.js';
import { ConfirmButton } from '../../shared/buttons.js';
import { Time } from '../../shared/time.js';
import classes from './page.module.css';

/** Recognizes common clients. The full text is a tooltip. */

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
 * `Firefox on Linux`. An unknown client is shown as sent, truncated to 60 characters.
 * @param agent the `User-Agent`; null if none was sent
 */
function clientOf(agent: string | null): string {
  if (agent === null) return 'Unknown client';
  const browser = BROWSERS.find(([sign]) => sign.test(agent))?.[1];
  const system = SYSTEMS.find(([sign]) => sign.test(agent))?.[1];
  if (browser !== undefined) return system === undefined ? browser : `${browser} on ${system}`;
  return agent.length > LONGEST ? `${agent.slice(0, LONGEST)}…` : agent;
}

/** Grouped by user, most recently used first. Ending the own session shows the login. */
export function SessionsPart() {
  const sessions = useInfiniteQuery(sessionsQuery());
  return (
    <section aria-labelledby="sessions">
      <Title order={2} size="h5" id="sessions" mt="xl">
        Active sessions
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        Sessions of users who signed in. API tokens have no session and work until they are revoked or expire.
      </Text>
      <Answered query={sessions} label="Loading the sessions">
        {({ pages }) => (
          <>
            <Sessions sessions={itemsIn(pages)} />
            <More of={sessions}>Show more of {(pages[0]?.meta.filter_count ?? 0).toLocaleString()} sessions</More>
          </>
        )}
      </Answered>
    </section>
  );
}

function Sessions({ sessions }: { sessions: readonly LiveSession[] }) {
  if (sessions.length === 0)
    return (
      <Text size="sm" c="dimmed">
        No active sessions.
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

type Some = [LiveSession, ...LiveSession[]];

/** Most recently used first, within and among users. */
function byUser(sessions: readonly LiveSession[]): Some[] {
  const groups = new Map<string, Some>();
  for (const session of sessions) {
    const before = groups.get(session.user.id);
    if (before === undefined) groups.set(session.user.id, [session]);
    else before.push(session);
  }
  return [...groups.values()];
}

function UserSessions({ sessions }: { sessions: Some }) {
  const [{ user }] = sessions;
  const end = useEnding(() => endSessions(user.id));
  return (
    <li className={classes.sessions}>
      <Group justify="space-between">
        <Text fw={600}>{user.name}</Text>
        {sessions.length > 1 && (
          <ConfirmButton
            size="xs"
            label="End all"
            sure="Yes, end all"
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
  return (
    <div className={classes.token}>
      <div>
        <Group gap={8}>
          <Text size="sm" fw={550} title={agent ?? undefined}>
            {client}
          </Text>
          {id === ownSessionId() && (
            <Badge size="sm" variant="default" tt="none" fw={500}>
              this session
            </Badge>
          )}
        </Group>
        <Text size="xs" c="dimmed">
          {network !== null && `from ${network}, `}since <Time at={since} />, used <Time at={used} />, ends{' '}
          <Time at={until} />
        </Text>
        {end.error !== null && <ProblemAlert error={end.error} />}
      </div>
      <ConfirmButton
        size="xs"
        label="End"
        sure="Yes, end it"
        about={`${client} of ${user.name}`}
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
