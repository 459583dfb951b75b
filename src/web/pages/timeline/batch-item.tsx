import openIcon from 'icon:expand_more';
import { Badge, Group, Text, UnstyledButton } from '@mantine/core';
import { type ReactNode, useId } from 'react';
import type { Batch } from '../../service/types.js';
import { brief } from '../../shared/brief.js';
import { ChangeList } from '../../shared/changes/change-list.js';
import { useBatchChanges } from '../../shared/changes/use-batch-changes.js';
import { Glyph } from '../../shared/glyph.js';
import { ProblemAlert } from '../../shared/problem-alert.js';
import { Time } from '../../shared/time.js';
import { Waiting } from '../../shared/waiting.js';
import { Ways } from './batch-links.js';
import classes from './page.module.css';

interface Props {
  batch: Batch;
  isOpen: boolean;
  onToggle: () => void;
  from?: number | undefined;
  onFrom: (position: number) => void;
}

/**
 * Loads the changes when opened.
 * @param props.from the position selected for a comparison, if any
 */
export function BatchItem({ batch, isOpen, onToggle, from, onFrom }: Props) {
  const { actor, summary, reason, occurred_at: at, events, last_position: position } = batch;
  const details = useId();
  return (
    <li className={classes.batch} data-open={isOpen || undefined}>
      <UnstyledButton className={classes.line} aria-expanded={isOpen} aria-controls={details} onClick={onToggle}>
        <span className={classes.chevron} data-open={isOpen}>
          <Glyph path={openIcon} />
        </span>
        <span className={classes.what}>
          <Text component="span" size="sm" fw={550} className={classes.summary}>
            {brief(summary, 240)}
          </Text>
          {reason !== null && (
            <Text component="span" size="sm" className={classes.reason}>
              {brief(reason, 300)}
            </Text>
          )}
          <Text component="span" size="xs" c="dimmed">
            {actor.name}, <Time at={at} as="clock" />,{' '}
            {events === 1 ? `event ${position}` : `${events} events to ${position}`}
          </Text>
        </span>
      </UnstyledButton>
      <div id={details}>
        {isOpen && <Details batch={batch} ways={<Ways batch={batch} from={from} onFrom={onFrom} />} />}
      </div>
    </li>
  );
}

function Details({ batch, ways }: { batch: Batch; ways: ReactNode }) {
  const { command, ip, user_agent: agent, request_id: request } = batch;
  const { data, more, error, refetch } = useBatchChanges(batch);
  return (
    <div className={classes.details}>
      {ways}
      <Group gap={6} mb="md">
        {[command, ip, agent, request && `request ${request}`].map((fact) =>
          fact ? (
            <Badge key={fact} variant="default" tt="none" fw={500} size="sm" maw="100%">
              {brief(fact, 80)}
            </Badge>
          ) : null,
        )}
      </Group>
      {error !== null && <ProblemAlert error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Waiting label="Loading the changes" height="100px" />}
      {data && <ChangeList changes={data} more={more} />}
    </div>
  );
}
