/** Shows the schema in the past, with the slider over the log. */
import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { ProblemAlert, LoadingIndicator } from '../../shared/problem-alert.js';
import { useHere } from '../../shared/focus.js';
import { SchemaPanels } from './schema-view.js';
import classes from './page.module.css';
import { ReplayBar } from './replay/replay-bar.js';
import { useReplay } from './replay/use-replay.js';

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
  if (replay === null) return <LoadingIndicator label="Loading the history" />;
  const bar = <ReplayBar replay={replay} position={position} onGo={go} onClose={close} />;
  return <SchemaPanels collections={collections} past={{ replay, marks: replay.marks, bar }} />;
}

/**
 * Returns the position and a setter. The address is updated after the last move, and an external change of the address
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
