/** Input typed into a form, stored relative to the original values, so that it can be applied to later ones. */
import { isObject, jsonEqual } from '../../kernel/json.js';

export interface TypedMember {
  /** `['meta', 'note']` */
  path: readonly string[];
  value: unknown;
}

type Values = Readonly<Record<string, unknown>>;

/** Members of a document and of its `meta` and `schema`. Deeper values are compared as a whole. */
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

/** Skips members of a `meta` or `schema` that no longer exists. */
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

/** Later ones take precedence. */
export function mergeTyped(earlier: readonly TypedMember[], later: readonly TypedMember[]): TypedMember[] {
  const keyOf = ({ path }: TypedMember) => path.join('.');
  return [...new Map([...earlier, ...later].map((each) => [keyOf(each), each])).values()];
}

/** Invalid text is read as empty. */
export function readTyped(text: string | null): TypedMember[] {
  if (text === null) return [];
  try {
    const read: unknown = JSON.parse(text);
    return Array.isArray(read) ? (read as TypedMember[]).filter(({ path }) => Array.isArray(path)) : [];
  } catch {
    return [];
  }
}
