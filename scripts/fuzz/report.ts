/** The output of a fuzzer run. */
import type { Finding, Report } from './run.js';

const MIB = 1024 ** 2;

export function reportText(seed: number, { sent, counts, findings, events, longest, memory }: Report): string {
  const lines = [
    `Seed ${seed}: ${sent} requests, ${events} events, longest answer ${Math.round(longest)} ms, at most ${Math.round(memory / MIB)} MiB resident`,
    '',
    ...[...counts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([route, statuses]) => `${route.padEnd(42)} ${statusText(statuses)}`),
    '',
    ...(findings.length === 0 ? ['Nothing found.'] : findings.flatMap((finding) => [findingText(finding), ''])),
  ];
  return lines.join('\n');
}

const statusText = (statuses: ReadonlyMap<number, number>): string =>
  [...statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, times]) => `${status}: ${times}`)
    .join('  ');

export function findingText({ rule, message, curl, again, times }: Finding): string {
  const reproduction = again === undefined ? 'after these' : again ? 'every time' : 'once; it did not show again';
  return [
    `FOUND ${rule} (${times}×, ${reproduction}): ${shortened(message)}`,
    ...curl.map((line) => `  ${shortened(line)}`),
  ].join('\n');
}

/** Shortens names of thousands of characters. */
const shortened = (text: string): string =>
  text.replaceAll(/(.)\1{300,}/gu, (run, char: string) => `${char.repeat(8)}…(${run.length})`);
