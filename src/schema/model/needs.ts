/** Objects that tables use. Several tables may use the same type, sequence or extension. */
import { extrasOf, type CollectionNode } from './state.js';
import type { Need } from './extras.js';
import { jsonEqual } from '../../kernel/json.js';

const NONE: readonly Need[] = [];

/** Empty for folders and missing collections. */
export const needsOfNode = (node: CollectionNode | undefined): readonly Need[] => extrasOf(node).needs ?? NONE;

/** `enum mood`: identifies the object. */
export const needLabel = ({ kind, name }: Pick<Need, 'kind' | 'name'>): string => `${kind} ${name}`;

/** The column that owns a sequence. Undefined for all others. */
export const ownerOf = (need: Need): string | undefined => (need.kind === 'sequence' ? need.owned_by : undefined);

/** Compares two objects, ignoring the owner of a sequence. */
export const isSameNeed = (a: Need, b: Need): boolean => jsonEqual(withOwner(a, undefined), withOwner(b, undefined));

/** Changes only sequences. @param owner undefined for no owner */
export function withOwner(need: Need, owner: string | undefined): Need {
  if (need.kind !== 'sequence') return need;
  const { owned_by: _, ...rest } = need;
  return owner === undefined ? rest : { ...rest, owned_by: owner };
}
