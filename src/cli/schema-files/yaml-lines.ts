/** On which line of a YAML text something stands. */
import { type Event, EVENT_ID, getScalarValue, parseEvents } from 'js-yaml';

/** As deep as the texts are that are read. */
const MAX_DEPTH = 100;

export type Steps = readonly (string | number)[];

/** From 1; of what isn't there, the line of what would hold it. The text must be YAML. */
export function lineOf(text: string, path: Steps): number {
  const reader: Reader = { text, events: parseEvents(text, { maxDepth: MAX_DEPTH }), at: 0 };
  while (reader.events[reader.at]?.type === EVENT_ID.DOCUMENT) reader.at += 1;
  return lineAt(text, offsetOf(reader, path) ?? 0);
}

/** The line of the first alias; null: there is none. */
export function aliasLine(text: string): number | null {
  if (!text.includes('*')) return null;
  const alias = parseEvents(text, { maxDepth: MAX_DEPTH }).find((event) => event.type === EVENT_ID.ALIAS);
  return alias === undefined ? null : lineAt(text, alias.anchorStart);
}

/** From 1. @param offset in UTF-16 units */
export const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

interface Reader {
  text: string;
  events: readonly Event[];
  at: number;
}

/** Where the value at `path` begins, or the last part of the path that is there. The reader is behind the value then. */
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
    // A member is where its name stands; what is inside it, deeper.
    if (isMeant) found = path.length === 1 ? start : (offset ?? start);
  }
  reader.at += 1;
  return found;
}
