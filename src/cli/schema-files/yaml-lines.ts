/** On which line of a YAML text something stands. */
import { type Event, EVENT_ID, getScalarValue, parseEvents } from 'js-yaml';

/** The maximum nesting of parsed texts. */
const MAX_DEPTH = 100;

export type Steps = readonly (string | number)[];

/** Starts at 1. For a missing value, the line of its parent. The text must be valid YAML. */
export function lineOf(text: string, path: Steps): number {
  const reader: Reader = { text, events: parseEvents(text, { maxDepth: MAX_DEPTH }), at: 0 };
  while (reader.events[reader.at]?.type === EVENT_ID.DOCUMENT) reader.at += 1;
  return lineAt(text, offsetOf(reader, path) ?? 0);
}

/** The line of the first alias; null if there is none. */
export function aliasLine(text: string): number | null {
  if (!text.includes('*')) return null;
  const alias = parseEvents(text, { maxDepth: MAX_DEPTH }).find((event) => event.type === EVENT_ID.ALIAS);
  return alias === undefined ? null : lineAt(text, alias.anchorStart);
}

/**
 * Starts at 1.
 * @param offset in UTF-16 units
 */
export const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

interface Reader {
  text: string;
  events: readonly Event[];
  at: number;
}

/** The start of the value at `path`, or of its deepest existing parent. Leaves the reader after the value. */
function offsetOf(reader: Reader, path: Steps | null): number | undefined {
  const event = reader.events[reader.at];
  reader.at += 1;
  if (event === undefined) return undefined;
  if (event.type === EVENT_ID.SCALAR) return event.valueStart;
  if (event.type === EVENT_ID.SEQUENCE) return inSequence(reader, path) ?? event.start;
  if (event.type === EVENT_ID.MAPPING) return inMapping(reader, path) ?? event.start;
  return undefined;
}

const isEnd = ({ events, at }: Reader): boolean => events[at] === undefined || events[at]?.type === EVENT_ID.POP;

function inSequence(reader: Reader, path: Steps | null): number | undefined {
  let found: number | undefined;
  for (let index = 0; !isEnd(reader); index += 1) {
    const isMeant = path !== null && path[0] === index;
    const offset = offsetOf(reader, isMeant ? path.slice(1) : null);
    if (isMeant) found = offset;
  }
  reader.at += 1;
  return found;
}

function inMapping(reader: Reader, path: Steps | null): number | undefined {
  let found: number | undefined;
  while (!isEnd(reader)) {
    const key = reader.events[reader.at];
    const start = offsetOf(reader, null);
    const name = key?.type === EVENT_ID.SCALAR ? getScalarValue(reader.text, key) : undefined;
    const isMeant = path !== null && path.length > 0 && path[0] === name;
    const offset = offsetOf(reader, isMeant ? path.slice(1) : null);
    // A member begins at its name; nested values begin deeper.
    if (isMeant) found = path.length === 1 ? start : (offset ?? start);
  }
  reader.at += 1;
  return found;
}
