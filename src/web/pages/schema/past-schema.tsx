/** Shows the schema in the past, with the slider over the log. */
import { ActionIcon, Button, NativeSelect, Text, Tooltip, TextInput, Group } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import closeIcon from 'icon:close';
import pauseIcon from 'icon:pause';
import playIcon from 'icon:play_arrow';
import nextIcon from 'icon:skip_next';
import backIcon from 'icon:skip_previous';
import { useCallback, useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { actorName } from '../../../schema/model/events.js';
import { fetchBatchAt } from '../../service/history-queries.js';
import { useMay } from '../../service/session.js';
import { useHere } from '../../shared/focus.js';
import { Glyph } from '../../shared/glyph.js';
import { Time } from '../../shared/time.js';
import { ProblemAlert, LoadingIndicator } from '../../shared/problem-alert.js';
import { abbreviate, isoOf, localOf } from '../../shared/text.js';
import type { ChangeKind } from './graph/graph.js';
import { MarkSign } from './tree.js';
import classes from './page.module.css';
import { countsOf } from './replay/frame.js';
import barClasses from './replay/replay-bar.module.css';
import { useReplay, type Replay, SPEEDS, usePlayer } from './replay/use-replay.js';
import { SchemaPanels } from './schema-view.js';
import { messages } from './messages.js';

const route = getRouteApi('/');

/** Maximum number of collections for which all fields are read at once. */
const SMALL = 300;

/** Milliseconds at one position after which the address is updated, because browsers throttle frequent updates. */
const SETTLED = 250;

/**
 * The module is loaded when it is first needed.
 * @param props.at a position
 * @param props.tables the number of current collections, which decides if all fields are read at once. Infinity if it
 * is unknown
 */
export default function Past({ at, tables }: { at: number; tables: number }) {
  const navigate = route.useNavigate();
  const [position, go] = usePosition(at);
  const state = useReplay(position, tables <= SMALL);
  const close = useCallback(() => void navigate({ search: (before) => ({ ...before, at: undefined }) }), [navigate]);
  const replay = state.status === 'there' ? state : null;
  const collections = useMemo(
    () => (replay === null ? [] : [...replay.moment.collections.values(), ...replay.marks.gone.collections]),
    // oxlint-disable-next-line
    [replay?.moment, replay?.marks],
  );
  if (state.status === 'failed') {
    return (
      <div className={classes.message}>
        <ProblemAlert error={state.error} retry={state.retry} />
      </div>
    );
  }
  if (replay === null) return <LoadingIndicator label={messages.page.loadingHistory} />;
  const bar = <ReplayBar replay={replay} position={position} onGo={go} onClose={close} />;
  return <SchemaPanels collections={collections} past={{ replay, marks: replay.marks, bar }} />;
}

/**
 * Returns the position and a setter. The address is updated after the last move, and an external change to the address
 * takes precedence.
 */
function usePosition(at: number): [number, (position: number) => void] {
  const navigate = route.useNavigate();
  const isHere = useHere();
  const [position, setPosition] = useState(at);
  const reported = useRef(at);
  useEffect(() => {
    if (at === reported.current) return;
    reported.current = at;
    setPosition(at);
  }, [at]);
  useEffect(() => {
    if (position === reported.current) return;
    const timer = setTimeout(() => {
      // The update must not undo a navigation to another page that is still loading.
      if (!isHere()) return;
      reported.current = position;
      void navigate({ search: (before) => ({ ...before, at: position }), replace: true });
    }, SETTLED);
    return () => clearTimeout(timer);
  }, [position, navigate, isHere]);
  return [position, setPosition];
}

/* The slider over the log: the current batch with its actor and reason, and the controls. */

/* The batch at the current position, with actor and reason. */

/**
 * Shows the batch. Screen readers announce it unless the replay is running. Only admins can revert, and not to the
 * head.
 */
function ReplayFacts({ replay, isPlaying }: { replay: Replay; isPlaying: boolean }) {
  const { batch, moment } = replay;
  const mayGoBack = useMay('carryOut');
  return (
    <div className={barClasses.facts}>
      <div className={barClasses.said} aria-live={isPlaying ? 'off' : 'polite'}>
        {batch === undefined ? (
          <Text size="sm">{messages.replay.begin}</Text>
        ) : (
          <>
            <Counts replay={replay} />
            <Text component="span" size="sm" fw={600} className={barClasses.summary}>
              {abbreviate(batch.summary, 160)}
            </Text>
            {batch.reason !== null && (
              <Text component="span" size="sm" className={barClasses.reason} title={abbreviate(batch.reason, 1_000)}>
                {abbreviate(batch.reason, 160)}
              </Text>
            )}
            <Text component="span" size="sm" c="dimmed">
              {`${actorName(batch.actor)}, `}
              <Time at={batch.occurred_at} />
            </Text>
          </>
        )}
      </div>
      <Group gap="xs" className={barClasses.ways}>
        {batch && (
          <Button component={Link} to="/timeline" search={{ batch: batch.batch } as never} size="xs" variant="default">
            {messages.replay.showChanges}
          </Button>
        )}
        {mayGoBack && moment.position < replay.head && (
          <Button component={Link} to="/review" search={{ to: moment.position } as never} size="xs">
            {messages.replay.goBack}
          </Button>
        )}
      </Group>
    </div>
  );
}

const ORDER: readonly ChangeKind[] = ['made', 'changed', 'removed'];

function Counts({ replay: { changes } }: { replay: Replay }) {
  if (changes === null) return null;
  const counts = countsOf(changes);
  return (
    <span className={barClasses.counts}>
      {ORDER.filter((mark) => counts[mark] > 0).map((mark) => (
        <span key={mark} title={messages.replay.counts[mark](counts[mark])}>
          <MarkSign mark={mark} />
          {counts[mark]}
        </span>
      ))}
    </span>
  );
}

/* Jumps to the last change before a selected time. */

interface GoToTimeProps {
  /** ISO 8601; undefined before the first event. */
  at: string | undefined;
  onGo: (position: number) => void;
}

/**
 * Jumps to a time when the user presses Enter or leaves the input. Errors are shown at the input.
 * @param props.onGo called with the position of that change. 0 if there is none before the time
 */
function GoToTime({ at, onGo }: GoToTimeProps) {
  const [problem, setProblem] = useState<string | null>(null);
  const shown = at === undefined ? '' : localOf(at);
  const requested = useRef('');
  /** The pending request. It is replaced when the user moves on. */
  const going = useRef<object>(null);
  useEffect(() => () => void (going.current = null), [at]);
  const go = async (local: string): Promise<void> => {
    const until = isoOf(local);
    if (until === null) return;
    requested.current = local;
    const mine = {};
    going.current = mine;
    setProblem(null);
    try {
      const batch = await fetchBatchAt(until);
      if (going.current === mine) onGo(batch?.last_position ?? 0);
    } catch (error) {
      if (going.current === mine) setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <TextInput
      key={at}
      type="datetime-local"
      size="xs"
      className={barClasses.time ?? ''}
      aria-label={messages.replay.goToTime}
      title={messages.replay.goToTimeHelp}
      defaultValue={shown}
      error={problem}
      onKeyDown={(event) => event.key === 'Enter' && void go(event.currentTarget.value)}
      onBlur={({ currentTarget: { value } }) => value !== shown && value !== requested.current && void go(value)}
    />
  );
}

interface Props {
  replay: Replay;
  /** The target position. The display may lag behind. */
  position: number;
  onGo: (position: number) => void;
  onClose: () => void;
}

/**
 * @param props.onGo called with any position while the slider moves, otherwise with the end of a batch; 0: before all
 * @param props.onClose called to return to the current schema
 */
function ReplayBar({ replay, position, onGo, onClose }: Props) {
  const { previous, next, head } = replay;
  const { isPlaying, toggle, speed, setSpeed } = usePlayer(replay, onGo);
  const step = (to: number | null | undefined) => typeof to === 'number' && onGo(to);
  const onKeyDown = (event: KeyboardEvent): void => {
    const move = { ArrowLeft: previous, ArrowDown: previous, ArrowRight: next, ArrowUp: next }[event.key];
    if (move === undefined) return;
    // Steps are batches, because nothing changes within one.
    event.preventDefault();
    step(move);
  };
  return (
    <section className={barClasses.bar} aria-label={messages.replay.title}>
      <div className={barClasses.controls}>
        <Step
          label={messages.replay.previous}
          shortcut=","
          icon={backIcon}
          isOff={previous === null}
          onClick={() => step(previous)}
        />
        <Tooltip label={`${isPlaying ? messages.replay.pause : messages.replay.play} (k)`}>
          <ActionIcon
            size="lg"
            radius="xl"
            aria-label={isPlaying ? messages.replay.pause : messages.replay.play}
            onClick={toggle}
          >
            <Glyph path={isPlaying ? pauseIcon : playIcon} size={22} />
          </ActionIcon>
        </Tooltip>
        <Step
          label={messages.replay.next}
          shortcut="."
          icon={nextIcon}
          isOff={next === null}
          onClick={() => step(next)}
        />
        <input
          type="range"
          className={barClasses.slider}
          aria-label={messages.replay.position}
          aria-valuetext={
            replay.batch === undefined
              ? messages.replay.beforeFirst
              : messages.replay.eventOf(replay.moment.position, head)
          }
          min={0}
          max={head}
          value={replay.isBusy ? Math.min(position, head) : replay.moment.position}
          onChange={(event) => onGo(Number(event.currentTarget.value))}
          onKeyDown={onKeyDown}
        />
        <Text size="xs" c="dimmed" className={barClasses.count}>
          {messages.replay.positionOf(replay.moment.position, head)}
        </Text>
        <NativeSelect
          size="xs"
          aria-label={messages.replay.speed}
          className={barClasses.speed}
          data={SPEEDS}
          value={speed}
          onChange={(event) => setSpeed(event.currentTarget.value)}
        />
        <GoToTime at={replay.batch?.occurred_at} onGo={onGo} />
        <Button
          size="xs"
          variant="default"
          className={barClasses.close}
          leftSection={<Glyph path={closeIcon} size={16} />}
          onClick={onClose}
        >
          {messages.replay.exit}
        </Button>
      </div>
      <ReplayFacts replay={replay} isPlaying={isPlaying} />
    </section>
  );
}

interface StepProps {
  label: string;
  shortcut: string;
  icon: string;
  isOff: boolean;
  onClick: () => void;
}

function Step({ label, shortcut, icon, isOff, onClick }: StepProps) {
  return (
    <Tooltip label={`${label} (${shortcut})`}>
      <ActionIcon variant="default" size="lg" aria-label={label} disabled={isOff} onClick={onClick}>
        <Glyph path={icon} />
      </ActionIcon>
    </Tooltip>
  );
}
