/** Decides which types SQL from outside may cast to. */
import { type Node, list, member, stringOf } from './expression.js';
import { OWN_NAMES, SEARCH_CONFIGURATIONS, extensionsWith } from './allowed-functions.js';
import { SEARCH_CONFIGURATION_TYPE } from './chosen-functions.js';

export interface TypeUse {
  /** Types that the table needs: unqualified names, which may contain dots. */
  needed: ReadonlySet<string>;
  /** Types of its columns, as written. */
  ofColumns: ReadonlySet<string>;
  ofExtension: (name: string) => boolean;
}

/** Only types of PostgreSQL itself. */
export const OWN_TYPES: TypeUse = { needed: new Set(), ofColumns: new Set(), ofExtension: () => false };

/** Returns why SQL may not cast to the type, or null. */
export function typeFault(type: Node | undefined, use: TypeUse): string | null {
  if (type?.['pct_type'] !== undefined || type?.['setof'] !== undefined) return 'must name types as they are called';
  const parts = partsOf(type);
  const name = parts.join('.');
  if (isOwn(parts) && OWN_NAMES.types.has(parts.at(-1) ?? '')) return null;
  if (use.ofColumns.has(name) || isBrought(parts, use)) return null;
  const what = `must not cast to ${JSON.stringify(name)}`;
  const from = bringerOf(name);
  return `${what}: it must be one of PostgreSQL's own types (docs/functions.md), or schema.extras.needs must name the ${from}`;
}

const isBrought = ([name = '', ...more]: readonly string[], { needed, ofExtension }: TypeUse): boolean =>
  more.length === 0 && (needed.has(name) || ofExtension(name));

const partsOf = (type: Node | undefined): string[] => list(type?.['names']).map((part) => stringOf(part) ?? '');

const isOwn = (parts: readonly string[]): boolean =>
  parts.length === 1 || (parts.length === 2 && parts[0] === 'pg_catalog');

function bringerOf(name: string): string {
  const bringers = extensionsWith('types', name).map((each) => JSON.stringify(each));
  return bringers.length === 0 ? 'type' : `extension ${bringers.join(' or ')}`;
}

/** `'english'::regconfig`, which PostgreSQL adds to every index over to_tsvector('english', …). */
export function isConfiguration(cast: Node): boolean {
  const parts = partsOf(member(cast, 'typeName'));
  if (parts.at(-1) !== SEARCH_CONFIGURATION_TYPE || !isOwn(parts)) return false;
  const name = literalText(cast['arg']);
  return name !== undefined && SEARCH_CONFIGURATIONS.has(name.replace(/^pg_catalog\./, ''));
}

/** The parser omits empty texts. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Returns the text of a literal, possibly under casts to text. Undefined for anything else. */
export function literalText(node: unknown): string | undefined {
  let inner = node;
  for (let cast = member(inner, 'TypeCast'); cast !== undefined; cast = member(inner, 'TypeCast')) {
    if (!isText(member(cast, 'typeName'))) return undefined;
    inner = cast['arg'];
  }
  const value = member(member(inner, 'A_Const'), 'sval');
  return value === undefined ? undefined : textOf(value['sval']);
}

function isText(type: Node | undefined): boolean {
  const parts = partsOf(type);
  return isOwn(parts) && parts.at(-1) === 'text' && type?.['arrayBounds'] === undefined;
}
