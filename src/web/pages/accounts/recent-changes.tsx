/** The latest changes of a user, one line each. */
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { latestQuery } from '../../service/history-queries.js';
import type { User } from '../../service/types.js';
import { brief } from '../../shared/brief.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { Time } from '../../shared/time.js';
import classes from './page.module.css';

/** Requested when opened. Shows a message if the user has changed nothing. */
export function Lately({ user }: { user: User }) {
  const { data, error } = useQuery(latestQuery(user.id));
  if (error !== null) return <ProblemAlert error={error} />;
  if (data === undefined) return null;
  return (
    <div className={classes.lately}>
      {data.length === 0 && (
        <Text size="sm" c="dimmed">
          The event log has no changes by this user.
        </Text>
      )}
      <ul>
        {data.map(({ batch, summary, reason, occurred_at: at }) => (
          <li key={batch}>
            <Link to="/timeline" search={{ batch }}>
              <Time at={at} />
            </Link>{' '}
            {brief(summary, 160)}
            {reason !== null && `: ${brief(reason, 120)}`}
          </li>
        ))}
      </ul>
      {data.length > 0 && (
        <Link to="/timeline" search={{ actor: user.id }}>
          All changes by {user.name}
        </Link>
      )}
    </div>
  );
}
