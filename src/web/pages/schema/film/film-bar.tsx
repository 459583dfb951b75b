/** The slider over the log: the current batch with its actor and reason, and the controls. */
import backIcon from 'icon:skip_previous';
import closeIcon from 'icon:close';
import nextIcon from 'icon:skip_next';
import pauseIcon from 'icon:pause';
import playIcon from 'icon:play_arrow';
import { ActionIcon, Button, NativeSelect, Text, Tooltip } from '@mantine/core';
import type { KeyboardEvent } from 'react';
import { Glyph } from '../../../shared/glyph.js';
import { FilmFacts } from './film-facts.js';
import { GoToTime } from './go-to-time.js';
import type { Film } from './use-film.js';
import { SPEEDS, usePlayer } from './use-player.js';
import classes from './film-bar.module.css';

interface Props {
  film: Film;
  /** The target position; the display may lag behind. */
  position: number;
  onGo: (position: number) => void;
  onClose: () => void;
}

/**
 * @param props.onGo called with any position while the slider moves, otherwise with the end of a batch; 0: before all
 * @param props.onClose called to return to the present
 */
export function FilmBar({ film, position, onGo, onClose }: Props) {
  const { previous, next, head } = film;
  const { isPlaying, toggle, speed, setSpeed } = usePlayer(film, onGo);
  const step = (to: number | null | undefined) => typeof to === 'number' && onGo(to);
  const onKeyDown = (event: KeyboardEvent): void => {
    const move = { ArrowLeft: previous, ArrowDown: previous, ArrowRight: next, ArrowUp: next }[event.key];
    if (move === undefined) return;
    // Steps are batches, because nothing changes within one.
    event.preventDefault();
    step(move);
  };
  return (
    <section className={classes.bar} aria-label="History">
      <div className={classes.controls}>
        <Step
          label="Previous change"
          shortcut=","
          icon={backIcon}
          isOff={previous === null}
          onClick={() => step(previous)}
        />
        <Tooltip label={`${isPlaying ? 'Pause' : 'Play'} (k)`}>
          <ActionIcon size="lg" radius="xl" aria-label={isPlaying ? 'Pause' : 'Play'} onClick={toggle}>
            <Glyph path={isPlaying ? pauseIcon : playIcon} size={22} />
          </ActionIcon>
        </Tooltip>
        <Step label="Next change" shortcut="." icon={nextIcon} isOff={next === null} onClick={() => step(next)} />
        <input
          type="range"
          className={classes.slider}
          aria-label="Position in the event log"
          aria-valuetext={
            film.batch === undefined ? 'before the first event' : `event ${film.moment.position} of ${head}`
          }
          min={0}
          max={head}
          value={film.isBusy ? Math.min(position, head) : film.moment.position}
          onChange={(event) => onGo(Number(event.currentTarget.value))}
          onKeyDown={onKeyDown}
        />
        <Text size="xs" c="dimmed" className={classes.count}>
          {film.moment.position.toLocaleString()} of {head.toLocaleString()}
        </Text>
        <NativeSelect
          size="xs"
          aria-label="Speed"
          className={classes.speed}
          data={SPEEDS}
          value={speed}
          onChange={(event) => setSpeed(event.currentTarget.value)}
        />
        <GoToTime at={film.batch?.occurred_at} onGo={onGo} />
        <Button
          size="xs"
          variant="default"
          className={classes.close}
          leftSection={<Glyph path={closeIcon} size={16} />}
          onClick={onClose}
        >
          Exit replay
        </Button>
      </div>
      <FilmFacts film={film} isPlaying={isPlaying} />
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
