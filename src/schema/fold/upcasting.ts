/** Parses stored events with the schema of their version and upcasts them step by step. */
import type { z } from 'zod';
import { EVENT_KINDS } from './event-schemas.js';
import type { LogEvent } from '../model/events.js';
import { isObject } from '../../kernel/json.js';

/** Converts a payload from version n to n + 1. Index 0 converts version 1. */
export type Upcasters = Readonly<Record<string, readonly ((data: unknown) => unknown)[]>>;

/** No payload has a second version yet. A new version needs a schema and an upcaster, and the existing ones stay. */
const UPCASTERS: Upcasters = {};

/**
 * An event that this release cannot read. Reading must stop here, because later events cannot be trusted without it.
 */
export class UnreadableEventError extends Error {
  readonly position: number;
  readonly why: string;
  constructor(position: number, why: string) {
    super(`event ${position} cannot be read: ${why}`);
    this.name = 'UnreadableEventError';
    this.position = position;
    this.why = why;
  }
}

/** An event as stored. */
export interface RawEvent {
  position: number;
  type: string;
  version: number;
  collection: string | null;
  field: string | null;
  data: unknown;
  subject?: unknown;
}

/** The facts about each event type that a reader needs. */
export type Kinds = Readonly<
  Record<string, { changesSchema: boolean; changesObjects?: boolean; versions: readonly z.ZodType[] }>
>;

/** Creates a reader of stored payloads. It throws UnreadableEventError for an unknown type, version or shape. */
function createEventReader(kinds: Kinds, upcasters: Upcasters) {
  return <E extends RawEvent>(event: E): Omit<E, keyof RawEvent> & LogEvent & { position: number } => {
    const { position, type, version } = event;
    const kind = Object.hasOwn(kinds, type) ? kinds[type] : undefined;
    if (kind === undefined) throw new UnreadableEventError(position, `event type ${JSON.stringify(type)} is not known`);
    const { versions } = kind;
    const schema = versions[version - 1];
    if (schema === undefined) {
      throw new UnreadableEventError(
        position,
        `version ${version} of ${type} is not known; this release supports versions 1 to ${versions.length}`,
      );
    }
    requireSubject(kind, event);
    if (!isReplacement(event.data) || !PATCHED.test(type)) check(schema, event);
    // Returns the stored value, not the copy of zod, which would lose a member named __proto__.
    if (version === versions.length) return event as never;
    const data = (upcasters[type] ?? []).slice(version - 1).reduce((old, upcast) => upcast(old), event.data);
    return { ...event, version: versions.length, data } as never;
  };
}

function requireSubject(
  { changesSchema, changesObjects = false }: Pick<Kinds[string], 'changesSchema' | 'changesObjects'>,
  { position, collection, subject }: RawEvent,
): void {
  if (changesSchema && collection === null) throw new UnreadableEventError(position, 'it does not name a collection');
  if (changesObjects && !isObject(subject)) throw new UnreadableEventError(position, 'it does not name an object');
}

function check(schema: z.ZodType, { data, position, type, version }: RawEvent): void {
  const parsed = schema.safeParse(data);
  if (parsed.success) return;
  const [issue] = parsed.error.issues;
  throw new UnreadableEventError(
    position,
    `its data is not valid for ${type} version ${version}: ${issue?.path.join('.')} ${issue?.message}`,
  );
}

/** Types whose payload is a patch in every version. */
const PATCHED = /^(?:collection|field|relation)\.updated$/;

/**
 * Recognises the most common payload, one replaced value, without the full schema. Most logs are then read several
 * times faster. `data` was JSON text, so any value in it is valid.
 */
function isReplacement(data: unknown): boolean {
  const patch = isObject(data) && Object.keys(data).length === 1 ? data['patch'] : undefined;
  if (!Array.isArray(patch) || patch.length !== 1) return false;
  const [only] = patch;
  return (
    isObject(only) &&
    only['op'] === 'replace' &&
    typeof only['path'] === 'string' &&
    only['value'] !== undefined &&
    Object.keys(only).length === 3
  );
}

/** Reads an event of the log in the newest version of its type. */
export const readEvent = createEventReader(EVENT_KINDS, UPCASTERS);
