/** Runs the steps of a preparation in order. Each continues where the previous process stopped. */
import type pg from 'pg';
import type { LockedSession } from '../../postgres/locked-session.js';
import {
  type KeptStep,
  beginStep,
  endStep,
  keepCheckpoint,
  keepProgress,
  readSteps,
} from '../../projector/change-requests/preparations.js';
import type { PreparationEngine, StepProgress } from '../../projector/online/types.js';

export interface RunningSteps {
  engine: PreparationEngine;
  /** The id of the change request. */
  id: string;
  session: LockedSession;
  pool: pg.Pool;
  schema: string;
  /** Aborted when the request is withdrawn or this process stops. */
  signal: AbortSignal;
  /** Called after each finished step. */
  onStep?: (kind: string, milliseconds: number) => void;
}

/** The request is not in preparation any more: it was withdrawn, or another process has taken it. */
export class NotOursError extends Error {
  override readonly name = 'NotOursError';
}

/** @throws PreparationRefused, the error of a step, or the signal's reason */
export async function runSteps(running: RunningSteps): Promise<KeptStep[]> {
  const { pool, id, signal, session } = running;
  for (const kept of await readSteps(pool, id)) {
    if (kept.milliseconds !== null) continue;
    signal.throwIfAborted();
    await beginStep(session.client, id, kept.number);
    await observed(running, kept);
    const milliseconds = await endStep(session.client, id, kept.number);
    if (milliseconds !== undefined) running.onStep?.(kept.step.kind, milliseconds);
  }
  return readSteps(pool, id);
}

/** Milliseconds between two progress checks of a running step. */
const LOOK = 1_000;

const NOTHING: StepProgress = { done: null, phase: null, waiting_for: [] };

async function observed(running: RunningSteps, { number, step, checkpoint }: KeptStep): Promise<void> {
  const { engine, id, session, pool, schema, signal } = running;
  const place = { request: id, number };
  let told: Partial<StepProgress> = {};
  let shown = '';
  const look = async (): Promise<void> => {
    const seen = await engine.observeStep(pool, session.pid, step);
    const progress = { ...NOTHING, ...told, ...seen };
    const text = JSON.stringify(progress);
    if (text === shown) return;
    shown = text;
    await keepProgress(pool, place, progress);
  };
  const attending = attend(look);
  try {
    await engine.runStep(
      {
        id,
        session: session.client,
        schema,
        signal,
        checkpoint,
        save: async (saved) => {
          signal.throwIfAborted();
          if (!(await keepCheckpoint(session.client, place, saved))) throw new NotOursError('the request is not ours');
        },
        progress: (progress) => (told = { ...told, ...progress }),
      },
      step,
    );
  } finally {
    await attending.end();
  }
}

/** Repeats a progress check, one at a time. A failed check is repeated later. */
function attend(look: () => Promise<void>): { end(): Promise<void> } {
  let running: Promise<void> = Promise.resolve();
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    running = look()
      .catch(() => undefined)
      .finally(() => (busy = false));
  }, LOOK);
  timer.unref();
  return {
    end: async () => {
      clearInterval(timer);
      await running;
    },
  };
}
