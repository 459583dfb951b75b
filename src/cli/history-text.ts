import type { z } from 'zod';
import type { batch, event } from '../http/openapi/answers/history.js';
import { type DiffDocument, type Entry, entriesOf } from './planned-changes.js';
import { locationText } from '../schema/model/location.js';
import { actorName } from '../schema/model/events.js';
import { oneLine } from './output.js';

export type ShownBatch = z.output<typeof batch>;
export type ShownEvent = z.output<typeof event>;

export interface Paint {
  position(text: string): string;
  time(text: string): string;
  actor(text: string): string;
  added(text: string): string;
  removed(text: string): string;
}

const plain = (text: string): string => text;
const colour =
  (code: number) =>
  (text: string): string =>
    `\u001B[${code}m${text}\u001B[0m`;

/** ANSI colours, which each terminal displays differently. Without colours the text is unchanged. */
export function createPaint(colours: boolean): Paint {
  if (!colours) return { position: plain, time: plain, actor: plain, added: plain, removed: plain };
  return { position: colour(33), time: colour(2), actor: colour(36), added: colour(32), removed: colour(31) };
}

/** One line per batch, and one for its reason. */
export function describeBatch(
  {
    first_position: first,
    last_position: last,
    occurred_at,
    actor,
    summary,
    reason,
  }: Pick<ShownBatch, 'first_position' | 'last_position' | 'occurred_at' | 'actor' | 'summary' | 'reason'>,
  paint: Paint,
): string {
  const range = first === last ? String(first) : `${first}-${last}`;
  const line = [
    paint.position(range.padEnd(9)),
    paint.time(shownTime(occurred_at)),
    paint.actor(oneLine(actorName(actor))),
    oneLine(summary),
  ].join('  ');
  return reason === null ? line : `${line}\n${' '.repeat(11)}why: ${oneLine(reason)}`;
}

/** All members of an event and its change. */
export function describeEvent(event: ShownEvent, change: DiffDocument['diff'], paint: Paint): string {
  const { position, type, subject, actor, occurred_at } = event;
  const about = [locationText(event), subject && `${subject.kind} ${subject.id}`].filter(Boolean).join(', ');
  const lines = [
    `${paint.position(`event ${position}`)}  ${type} ${oneLine(about)}`.trimEnd(),
    `when     ${paint.time(shownTime(occurred_at))}`,
    `who      ${paint.actor(oneLine(actorName(actor)))} (${actor.id})`,
    `from     ${
      [event.ip, event.user_agent]
        .filter((part) => part !== null)
        .map(oneLine)
        .join(', ') || 'unknown'
    }`,
    `command  ${event.command}, request ${event.request_id ?? 'unknown'}, batch ${event.batch}`,
    `why      ${event.reason === null ? '(none)' : oneLine(event.reason)}`,
    `hash     ${event.hash}`,
    '',
    ...describeChange(change, paint),
  ];
  return lines.join('\n');
}

/** One line per change: `~ field articles.title: meta.note "old" → "new"`. */
const describeChange = (diff: DiffDocument['diff'], paint: Paint): string[] =>
  entriesOf(diff).flatMap((entry) => describeEntry(entry, paint));

function describeEntry({ kind, name: untrusted, diff }: Entry, paint: Paint): string[] {
  const name = oneLine(untrusted);
  return diff.map((change) => {
    const path = (change.path ?? []).join('.');
    if (path === '' && change.kind === 'N') return paint.added(`+ ${kind} ${name}`);
    if (path === '' && change.kind === 'D') return paint.removed(`- ${kind} ${name}`);
    const at = change.kind === 'A' ? `${path}.${change.index}` : path;
    const values = change.kind === 'A' ? change.item : change;
    const before = 'lhs' in values ? values.lhs : undefined;
    const after = 'rhs' in values ? values.rhs : undefined;
    return `~ ${kind} ${name}: ${at}  ${paint.removed(shown(before))} → ${paint.added(shown(after))}`;
  });
}

const shown = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value));

const shownTime = (time: string): string => time.slice(0, 19).replace('T', ' ');
