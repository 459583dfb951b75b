/** Which members and choices of the payload shapes occur in events, so that a sample log can be complete. */
import { z } from 'zod';
import { sha256 } from '../../src/kernel/sha256.js';
import { EVENT_KINDS } from '../../src/schema/fold/event-schemas.js';
import { isObject } from '../../src/kernel/json.js';
import type { EventRecord } from '../../src/log/read.js';

/** The parts of zod's schemas that are read; a shared shape is visited once. */
interface Definition {
  type: string;
  innerType?: z.ZodType;
  element?: z.ZodType;
  shape?: Record<string, z.ZodType>;
  options?: z.ZodType[];
  entries?: Record<string, string>;
}

const definition = (schema: z.ZodType): Definition => schema.def;

/** Keyed by shape: its possible content (a member, a choice, null) and where it was first declared. */
type Declared = Map<z.ZodType, Map<string, string>>;

/** `collection.created 1`: each type with each version. */
export function declaredVersions(): string[] {
  return Object.entries(EVENT_KINDS).flatMap(([type, { versions }]) =>
    versions.map((_, index) => `${type} ${index + 1}`),
  );
}

/** `collection.created 1`: a hash of everything that the shape of the payload accepts. */
export function payloadShapes(): Record<string, string> {
  const shapes = Object.entries(EVENT_KINDS).flatMap(([type, { versions }]) =>
    versions.map((schema, index) => [`${type} ${index + 1}`, sha256(JSON.stringify(z.toJSONSchema(schema, TO_JSON)))]),
  );
  return Object.fromEntries(shapes) as Record<string, string>;
}

/** A transformed value is described by what the event contains. */
const TO_JSON = { io: 'input', unrepresentable: 'any', reused: 'inline' } as const;

/** Declared types, versions, members, choices and nulls that occur in no event. */
export function neverUsed(events: readonly EventRecord[]): string[] {
  const declared: Declared = new Map();
  const kinds: Readonly<Record<string, { versions: readonly z.ZodType[] }>> = EVENT_KINDS;
  for (const [type, { versions }] of Object.entries(kinds)) {
    versions.forEach((schema, index) => declare(declared, schema, `${type} ${index + 1}:`));
  }
  const types = new Set(declaredVersions());
  for (const { type, version, data } of events) {
    types.delete(`${type} ${version}`);
    const schema = kinds[type]?.versions[version - 1];
    if (schema !== undefined) use(declared, schema, data);
  }
  return [...types, ...[...declared.values()].flatMap((places) => [...places.values()])];
}

function declare(declared: Declared, schema: z.ZodType, place: string): void {
  if (declared.has(schema)) return;
  const { type, innerType, element, shape = {}, options = [], entries = {} } = definition(schema);
  const held = new Map<string, string>();
  declared.set(schema, held);
  for (const [member, inner] of Object.entries(shape)) {
    held.set(member, `${place} ${member}`);
    declare(declared, inner, `${place} ${member}`);
  }
  for (const choice of Object.values(entries)) held.set(choice, `${place} = ${choice}`);
  if (type === 'nullable') held.set('null', `${place} = null`);
  for (const inner of [innerType, element, ...options]) if (inner !== undefined) declare(declared, inner, place);
}

function use(declared: Declared, schema: z.ZodType, value: unknown): void {
  const held = declared.get(schema);
  if (value === null || typeof value === 'string') held?.delete(value ?? 'null');
  for (const { schema: inner, value: each, member } of listParts(schema, value)) {
    if (member !== undefined) held?.delete(member);
    use(declared, inner, each);
  }
}

/** The parts of a value with their shapes; `member`: of an object. */
function listParts(schema: z.ZodType, value: unknown): { schema: z.ZodType; value: unknown; member?: string }[] {
  const { innerType, element, shape = {}, options = [] } = definition(schema);
  if (innerType !== undefined) return [{ schema: innerType, value }];
  if (element !== undefined && Array.isArray(value)) return value.map((each) => ({ schema: element, value: each }));
  const members = Object.entries(shape).map(([member, inner]) => ({
    member,
    schema: inner,
    value: memberOf(value, member),
  }));
  const fitting = options.filter((option) => option.safeParse(value).success);
  return [
    ...members.filter((part) => part.value !== undefined),
    ...fitting.map((option) => ({ schema: option, value })),
  ];
}

const memberOf = (value: unknown, member: string): unknown => (isObject(value) ? value[member] : undefined);
