/** What somebody typed into a form, apart from what stood there: it fits on top of what stands there later. */
import { isObject, jsonEqual } from '../../kernel/json.js';

export interface TypedMember {
  /** `['meta', 'note']` */
  path: readonly string[];
  value: unknown;
}

type Values = Readonly<Record<string, unknown>>;

/** Members of a document, and of its `meta` and `schema`; what is further inside is one value. */
export function typedSince(before: Values, now: Values): TypedMember[] {
  return Object.keys(now).flatMap((name) => {
    const [was, is] = [before[name], now[name]];
    if (jsonEqual(was ?? null, is ?? null)) return [];
    if (!isObject(was) || !isObject(is) || !sameMembers(was, is)) return [{ path: [name], value: is }];
    const inside = Object.keys(is).filter((member) => !jsonEqual(was[member] ?? null, is[member] ?? null));
    return inside.map((member) => ({ path: [name, member], value: is[member] }));
  });
}

const sameMembers = (one: object, other: object): boolean =>
  Object.keys(one).sort().join('\n') === Object.keys(other).sort().join('\n');

/** A member of a `meta` or `schema` that isn't there any more is left out. */
export function withTyped<T extends Values>(values: T, typed: readonly TypedMember[]): T {
  const next: Record<string, unknown> = { ...values };
  for (const { path, value } of typed) {
    const [name = '', member] = path;
    const whole = next[name];
    if (member === undefined) next[name] = value;
    else if (isObject(whole)) next[name] = { ...whole, [member]: value };
  }
  return next as T;
}

/** The later ones win. */
export function mergeTyped(earlier: readonly TypedMember[], later: readonly TypedMember[]): TypedMember[] {
  const keyOf = ({ path }: TypedMember) => path.join('.');
  return [...new Map([...earlier, ...later].map((each) => [keyOf(each), each])).values()];
}

/** What can't be read is nothing. */
export function readTyped(text: string | null): TypedMember[] {
  if (text === null) return [];
  try {
    const read: unknown = JSON.parse(text);
    return Array.isArray(read) ? (read as TypedMember[]).filter(({ path }) => Array.isArray(path)) : [];
  } catch {
    return [];
  }
}
