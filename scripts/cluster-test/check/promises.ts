/** The guarantees to clients, compared with the log. Each function returns the violations. */
import type { Ended, Recorded } from './history.js';
import { type Log, isCovered } from './log.js';

export type Mode = 'sync' | 'async';

interface Case {
  recorded: Recorded;
  log: Log;
  mode: Mode;
}

/** Positions are consecutive, and each event has the hash of the previous one. */
export function chain({ log }: Case): string[] {
  return log.events.flatMap(({ position, previous }, index) => {
    const before = log.events[index - 1];
    if (position !== index + 1) return [`position ${position} where ${index + 1} should be`];
    return before === undefined || before.hash === previous
      ? []
      : [`position ${position} doesn't follow the one before`];
  });
}

const isCommand = ({ client }: Ended): boolean => !client.startsWith('r');

/** Acknowledged commands that the log lacks. */
export function findLost({ recorded, log }: Case): Ended[] {
  const batches = new Set(log.events.map(({ batch }) => batch));
  return recorded.tries.filter(
    (each) => isCommand(each) && each.result === 'acknowledged' && each.batch !== null && !batches.has(each.batch),
  );
}

/** With a synchronous standby no acknowledged event is lost. Otherwise the log records the loss. */
export function acknowledged(given: Case): string[] {
  const { log, mode } = given;
  return findLost(given).flatMap(({ op, position, batch, ended }) => {
    if (mode === 'async' && position !== null && isCovered(log, position, ended)) return [];
    return [`${op} was acknowledged at position ${position}, and its batch ${batch} is not in the log`];
  });
}

/** No command is in the log twice, and no rejected command is in the log. */
export function findRepeated({ recorded, log }: Case): string[] {
  const written = log.events.filter(({ reason }) => reason !== null);
  const batches = setsBy(written.map(({ reason, batch }) => [reason ?? '', batch]));
  const results = setsBy(recorded.tries.map(({ op, result }) => [op, result]));
  return [...results].flatMap(([op, responses]) => {
    const count = batches.get(op)?.size ?? 0;
    const isOpen = ['acknowledged', 'unknown'].some((each) => responses.has(each)) || recorded.open.has(op);
    return [
      ...(count > 1 ? [`${op} is in the log ${count} times`] : []),
      ...(count > 0 && !isOpen
        ? [`${op} was told that nothing was written (${[...responses].join(', ')}), and is in the log`]
        : []),
    ];
  });
}

function setsBy(pairs: readonly (readonly [string, string])[]): Map<string, Set<string>> {
  const sets = new Map<string, Set<string>>();
  for (const [key, value] of pairs) sets.set(key, (sets.get(key) ?? new Set()).add(value));
  return sets;
}

/** Two processes never show different events at one position, unless the log records that the event was replaced. */
export function positions({ recorded, log, mode }: Case): string[] {
  const problems: string[] = [];
  for (const { op, service, ended, position, hash } of firstReads(recorded)) {
    const now = log.byPosition.get(position)?.hash;
    if (hash === now || (mode === 'async' && isCovered(log, position, ended))) continue;
    const there = now?.slice(0, 8) ?? 'nothing';
    problems.push(`${op} read ${hash.slice(0, 8)} at position ${position} from process ${service}, where ${there} is`);
  }
  return problems;
}

type Read = Ended & { position: number; hash: string };

const isRead = (each: Ended): each is Read => each.result === 'read' && each.hash !== null && each.position !== null;

/** The first process that showed each event. */
function firstReads({ tries }: Recorded): Iterable<Read> {
  const seen = new Map<string, Read>();
  for (const each of tries.filter(isRead)) {
    const event = `${each.position} ${each.hash}`;
    if (!seen.has(event)) seen.set(event, each);
  }
  return seen.values();
}

/** A process that has shown an event of the new history no longer shows events of the lost history. */
export function findMixedHistories({ recorded, log }: Case): string[] {
  const problems: string[] = [];
  for (const { op, service, position, hash, began, result } of recorded.tries) {
    if (result !== 'read' || hash === null || position === null) continue;
    if (log.byPosition.get(position)?.hash === hash) continue;
    const forks = log.acknowledged.filter((each) => each.fork < position && each.seen >= position);
    const fork = Math.max(...forks.map((each) => each.fork), 0);
    const earlier = recorded.tries.find(
      (each) =>
        each.service === service &&
        each.ended < began &&
        each.hash !== null &&
        each.position !== null &&
        each.position > fork &&
        log.byPosition.get(each.position)?.hash === each.hash &&
        forks.some(({ noticed }) => noticed < each.ended),
    );
    if (earlier)
      problems.push(
        `${op} read the lost ${position} from process ${service}, which had shown the new ${earlier.position}`,
      );
  }
  return problems;
}

/** A reader that sends its last position never reads an older state. */
export function backwards({ recorded, log }: Case): string[] {
  return recorded.tries.flatMap(({ op, result, position, least, ended }) => {
    if (result !== 'read' || position === null || position >= least) return [];
    // The log records that the positions in between were lost.
    if (isCovered(log, least, 0) && log.acknowledged.some(({ noticed }) => noticed <= ended + 1_000)) return [];
    return [`${op} asked for position ${least} at least, and was shown ${position}`];
  });
}
