/** The batch at the current position, with actor and reason. */
import { Button, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMay } from '../../../service/use-session.js';
import { brief } from '../../../shared/brief.js';
import { Time } from '../../../shared/time.js';
import { MARK_WORDS, MarkSign } from '../graph/mark-sign.js';
import type { Doing } from '../graph/mark.js';
import { countsOf } from './marks.js';
import type { Changes } from './moment.js';
import type { Film } from './use-film.js';
import classes from './film-bar.module.css';

/** Announced to screen readers unless the replay is running. Reverting is for admins, and not to the head. */
export function FilmFacts({ film, isPlaying }: { film: Film; isPlaying: boolean }) {
  const { batch, moment } = film;
  const mayGoBack = useMay('carryOut');
  return (
    <div className={classes.facts}>
      <div className={classes.said} aria-live={isPlaying ? 'off' : 'polite'}>
        {batch === undefined ? (
          <Text size="sm">Before the first event: the schema is empty.</Text>
        ) : (
          <>
            <Counts film={film} />
            <Text component="span" size="sm" fw={600} className={classes.summary}>
              {brief(batch.summary, 160)}
            </Text>
            {batch.reason !== null && (
              <Text component="span" size="sm" className={classes.reason} title={brief(batch.reason, 1_000)}>
                {brief(batch.reason, 160)}
              </Text>
            )}
            <Text component="span" size="sm" c="dimmed">
              {batch.actor.name}, <Time at={batch.occurred_at} />
            </Text>
          </>
        )}
      </div>
      <Group gap="xs" className={classes.ways}>
        {batch && (
          <Button component={Link} to="/timeline" search={{ batch: batch.batch } as never} size="xs" variant="default">
            Show changes
          </Button>
        )}
        {mayGoBack && moment.position < film.head && (
          <Button component={Link} to="/review" search={{ to: moment.position } as never} size="xs">
            Go back to this point
          </Button>
        )}
      </Group>
    </div>
  );
}

const ORDER: readonly Doing[] = ['made', 'changed', 'removed'];

function Counts({ film: { changes } }: { film: Film }) {
  if (changes === null) return null;
  const counts = countsOf(changes as unknown as Changes);
  return (
    <span className={classes.counts}>
      {ORDER.filter((mark) => counts[mark] > 0).map((mark) => (
        <span key={mark} title={`${counts[mark]} ${MARK_WORDS[mark]}`}>
          <MarkSign mark={mark} />
          {counts[mark]}
        </span>
      ))}
    </span>
  );
}
