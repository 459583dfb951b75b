/** Change requests: what is being prepared now, and what became of those before. */
import { Badge, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { isUnderWay, newestChangesQuery } from '../../service/operations-queries.js';
import type { ChangeSummary } from '../../service/types.js';
import { Answered } from '../../shared/answered.js';
import { brief } from '../../shared/brief.js';
import { STATES } from '../../shared/change-request/states.js';
import { useTitle } from '../../shared/page-title.js';
import { Time } from '../../shared/time.js';
import { ChangeDetails } from './change-details.js';
import classes from './page.module.css';

export function ChangesTab() {
  useTitle('Under way · Operations');
  const changes = useQuery(newestChangesQuery());
  return (
    <Answered query={changes} label="Reading the change requests">
      {({ data, meta }) =>
        data.length === 0 ? (
          <Empty />
        ) : (
          <>
            <ul className={classes.cards}>
              {data.map((each) => (
                <Line key={each.id} change={each} isOpen={isUnderWay(each)} />
              ))}
            </ul>
            {meta.total_count > data.length && (
              <Text size="sm" c="dimmed">
                The newest {data.length} of {meta.total_count.toLocaleString()}; the interface has the others (
                <code>GET /changes</code>).
              </Text>
            )}
          </>
        )
      }
    </Answered>
  );
}

function Empty() {
  return (
    <div className={classes.empty}>
      <Text fw={600}>Nothing is being prepared</Text>
      <Text size="sm" mt={4}>
        A change of a large table that is asked for online (<code>?online</code>, or “while the tables are used” in the
        review) is prepared here step by step, while applications go on.
      </Text>
    </div>
  );
}

function Line({ change, isOpen }: { change: ChangeSummary; isOpen: boolean }) {
  const { id, state, title, operation, collections, author, reason, opened_at: since, result } = change;
  return (
    <li className={classes.card}>
      <div className={classes.head}>
        <div className={classes.words}>
          <Group gap="xs">
            <Badge variant="light" color={STATES[state].color} tt="none" className={classes.badge}>
              {state}
            </Badge>
            <Text fw={600}>{brief(title ?? collections.join(', '), 120) || operation}</Text>
          </Group>
          <Text size="sm" c="dimmed" mt={4}>
            {operation}, asked for by {author.name} <Time at={since} />
            {reason !== null && `: ${brief(reason, 300)}`}
          </Text>
        </div>
        <Group gap="sm">
          {result !== null && (
            <Link to="/timeline" search={{ batch: result.batch }}>
              What it became
            </Link>
          )}
          {!isOpen && (
            <Link to="/review" search={{ change: id }} aria-label={`More of ${collections.join(', ')}`}>
              More
            </Link>
          )}
        </Group>
      </div>
      {isOpen && <ChangeDetails id={id} />}
    </li>
  );
}
