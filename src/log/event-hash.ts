/**
 * Defines what the hash of an event covers and how events are linked. It uses no Node.js modules, so that a browser can
 * verify a log with the same code.
 */
import { createCanonicalWriter } from '../kernel/canonical.js';
import type { Sha256 } from '../kernel/sha256.js';
import { type LogHead, emptyHead } from './head.js';
import type { EventRecord } from './read.js';
import { LOG_ERASED } from '../schema/model/events.js';

/**
 * The hash covers the event without its hashes and without its personal data. It covers the commitment to the personal
 * data instead, and the id of the actor, which decisions rely on.
 */
export type Hashed = Omit<EventRecord, 'hash' | 'salt' | keyof PersonalData>;

/** The members of an event that can be erased. The actor's id stays. */
interface PersonalData {
  name: string | null;
  ip: string | null;
  reason: string | null;
  user_agent: string | null;
}

type ErasableMembers = Pick<EventRecord, 'actor' | 'ip' | 'reason' | 'user_agent'>;

/** Returns the canonical JSON that a commitment covers. */
export const personalText = ({ actor: { name }, ip, reason, user_agent }: ErasableMembers): string =>
  JSON.stringify({ ip, name, reason, user_agent });

/**
 * Computes the commitment to personal data. Without the salt, the hash would survive the erasure, and anyone could
 * compare it with guesses.
 * @param salt 128 random bits, hex
 */
export const commitmentTo = (personal: string, salt: string, sha256: Sha256): string => sha256(salt + personal);

/** Returns why the personal data of an event is not what was appended, or null. Erased data is not evaluated here. */
function personalFault(
  event: ErasableMembers & Pick<EventRecord, 'salt' | 'commitment'>,
  sha256: Sha256,
): string | null {
  const { salt, commitment } = event;
  if (salt !== null) return commitmentTo(personalText(event), salt, sha256) === commitment ? null : OTHER_PERSONAL_DATA;
  const { actor, ip, reason, user_agent } = event;
  const isErased = [actor.name, ip, reason, user_agent].every((value) => value === null);
  return isErased ? null : OTHER_PERSONAL_DATA;
}

/**
 * Returns the canonical JSON of an event without its hashes, split before and after its data.
 * @param write returns canonical JSON
 */
export function serializeAroundData(
  event: Omit<Hashed, 'data'>,
  write: (value: unknown) => string,
): { before: string; after: string } {
  // The members are in the order of canonical JSON.
  return {
    before:
      `{"actor":${JSON.stringify(event.actor.id)},"batch":"${event.batch}","collection":${JSON.stringify(event.collection)},` +
      `"command":${JSON.stringify(event.command)},"commitment":"${event.commitment}",` +
      `${writeOptional('context', event.context, write)}"data":`,
    after:
      `,"field":${JSON.stringify(event.field)},` +
      `"id":"${event.id}","occurred_at":"${event.occurred_at}","position":${event.position},` +
      `"request_id":${JSON.stringify(event.request_id)},${writeOptional('subject', event.subject, write)}"type":${JSON.stringify(event.type)},` +
      `"version":${event.version}}`,
  };
}

/** Writes an optional member only if it exists, so the hashes of older events stay valid. */
function writeOptional(name: string, value: unknown, write: (value: unknown) => string): string {
  return value == null ? '' : `"${name}":${write(value)},`;
}

/** Verifies events one after another, from any source. */
export interface Chain {
  /**
   * Verifies the next event. After a fault, no more events can be added.
   * @returns the reason why it does not follow, or null
   */
  add(event: EventRecord): string | null;
  /** Returns the last event that was verified. */
  head(): LogHead;
  /** Returns the number of events so far without their personal data. */
  erased(): number;
  /** Returns the first event whose personal data is missing although no event up to the end names it as erased. */
  end(): { position: number; reason: string } | null;
}

/** Creates the function that returns why an event is not the one that was appended, or null. */
export function createChecker(sha256: Sha256): (event: EventRecord) => string | null {
  const write = createCanonicalWriter();
  return (event) => {
    const { before, after } = serializeAroundData(event, write);
    if (sha256(event.previous_hash + before + write(event.data) + after) !== event.hash) return OTHER_CONTENT;
    return personalFault(event, sha256);
  };
}

const OTHER_CONTENT = 'its hash does not match its content';
const OTHER_PERSONAL_DATA = 'its actor, reason, address, user agent or salt does not match its commitment';
const UNNAMED = 'its personal data is missing, and no log.erased event names it';

/** Starts before the first event. The events must start at position 1 and have no gaps. */
export function createHashChain(sha256: Sha256): Chain {
  let head = emptyHead();
  const whyChanged = createChecker(sha256);
  const erasures = createErasures();
  return {
    add: (event) => {
      const reason = explainUnlinked(event, head) ?? whyChanged(event) ?? erasures.add(event);
      if (reason === null) head = { position: event.position, hash: event.hash, occurred_at: event.occurred_at };
      return reason;
    },
    head: () => head,
    erased: erasures.count,
    end: () => {
      const position = erasures.firstUnnamed();
      return position === undefined ? null : { position, reason: UNNAMED };
    },
  };
}

function explainUnlinked(event: EventRecord, previous: LogHead): string | null {
  if (event.position === previous.position) return 'the log contains this position twice';
  if (event.position !== previous.position + 1) {
    return `position ${previous.position + 1} is missing`;
  }
  if (event.previous_hash !== previous.hash)
    return `its previous_hash is not the hash of position ${previous.position}`;
  return null;
}

/** Compares the events without personal data with those that later events name as erased, per actor. */
function createErasures() {
  /** Ranges of positions in order, keyed by the id of the actor. */
  const missing = new Map<string, [from: number, to: number][]>();
  const named = new Map<string, [from: number, to: number][]>();
  let count = 0;

  const firstUnnamedOf = ([actor, ranges]: [string, [number, number][]]): number[] => {
    const erased = (named.get(actor) ?? []).sort(([a], [b]) => a - b);
    let index = 0;
    for (const [from, to] of ranges) {
      for (let position = from; position <= to;) {
        while (index < erased.length && (erased[index]?.[1] ?? 0) < position) index += 1;
        const [start, end] = erased[index] ?? [Infinity, Infinity];
        if (start > position) return [position];
        position = end + 1;
      }
    }
    return [];
  };

  const noteMissing = ({ position, actor }: EventRecord): void => {
    count += 1;
    const ranges = missing.get(actor.id) ?? [];
    const last = ranges.at(-1);
    if (last?.[1] === position - 1) last[1] = position;
    else ranges.push([position, position]);
    missing.set(actor.id, ranges);
  };

  return {
    /** Returns why an event names positions that cannot be erased, or null. */
    add: (event: EventRecord): string | null => {
      const { position, type, data, subject } = event;
      if (event.salt === null) noteMissing(event);
      if (type !== LOG_ERASED || subject === undefined) return null;
      const ranges = readErasedRanges(data);
      if (ranges === null || ranges.some(([, to]) => to >= position)) return IMPOSSIBLE;
      const documents = named.get(subject.id) ?? [];
      for (const range of ranges) documents.push(range);
      named.set(subject.id, documents);
      return null;
    },
    count: () => count,
    firstUnnamed: (): number | undefined => {
      const unnamed = [...missing].flatMap(firstUnnamedOf);
      return unnamed.toSorted((a, b) => a - b)[0];
    },
  };
}

const IMPOSSIBLE = 'it names positions that are not before it';

/** Reads the ranges without a schema, because verification also accepts events of newer releases. */
function readErasedRanges(data: unknown): [number, number][] | null {
  const { positions } = data as { positions?: unknown };
  if (!Array.isArray(positions)) return null;
  const ranges = positions as unknown[];
  return ranges.every(isRange) ? ranges : null;
}

const isRange = (value: unknown): value is [number, number] =>
  Array.isArray(value) &&
  value.length === 2 &&
  value.every((each) => Number.isSafeInteger(each) && each > 0) &&
  value[0] <= value[1];
