/** Progress of long work: a bar on a terminal, otherwise an occasional line. Both go to stderr. */
import type { Terminal } from './command.js';

export interface Progress {
  at(done: number, total: number): void;
  end(): void;
}

const WIDTH = 30;

/** Milliseconds between two updates of the bar, and between two lines. */
const REDRAW = 100;
const LINE = 5_000;

/**
 * Prints nothing until the work takes a while or is done.
 * @param now in milliseconds
 */
export function createProgress(
  terminal: Terminal,
  label: string,
  now: () => number = () => performance.now(),
): Progress {
  const started = now();
  const every = terminal.rewrite ? REDRAW : LINE;
  let shown = started;
  let last = '';
  return {
    at: (done, total) => {
      const time = now();
      const complete = done >= total;
      if (!complete && time - shown < every) return;
      shown = time;
      const text = describe({ done, total, elapsed: time - started });
      if (text === last) return;
      last = text;
      if (terminal.rewrite) terminal.rewrite(`${label} ${bar(done, total)} ${text}`);
      else terminal.note(`${label}: ${text}`);
    },
    end: () => {
      if (last !== '') terminal.rewrite?.('');
    },
  };
}

/** The bar in brackets without numbers. Full if there is nothing to do. */
export function bar(done: number, total: number): string {
  const filled = total === 0 ? WIDTH : Math.min(WIDTH, Math.floor((done / total) * WIDTH));
  return `[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}]`;
}

function describe({ done, total, elapsed }: { done: number; total: number; elapsed: number }): string {
  const percent = total === 0 ? 100 : Math.min(100, Math.floor((done / total) * 100));
  const left = done === 0 || done >= total ? null : Math.ceil(((elapsed / done) * (total - done)) / 1000);
  return `${percent} % (${done} of ${total})${left === null ? '' : `, about ${left} s left`}`;
}
