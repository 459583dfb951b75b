/** What tables use beside themselves: a type, a sequence or an extension is one thing, however many tables name it. */
import { extrasOf, type CollectionNode } from './state.js';
import type { Need } from './extras.js';
import { jsonEqual } from '../../kernel/json.js';

const NONE: readonly Need[] = [];

/** Empty for folders, and where there is no such collection. */
export const needsOfNode = (node: CollectionNode | undefined): readonly Need[] => extrasOf(node).needs ?? NONE;

/** `enum mood`: what tells needs apart. */
export const needLabel = ({ kind, name }: Pick<Need, 'kind' | 'name'>): string => `${kind} ${name}`;

/** The column that a sequence ends with; undefined where it has none, and of all other needs. */
export const ownerOf = (need: Need): string | undefined => (need.kind === 'sequence' ? need.owned_by : undefined);

/** Whether they are the same but for whose column a sequence ends with. */
export const isSameNeed = (a: Need, b: Need): boolean => jsonEqual(withOwner(a, undefined), withOwner(b, undefined));

/** Anything but a sequence stays as it is. @param owner undefined: none */
export function withOwner(need: Need, owner: string | undefined): Need {
  if (need.kind !== 'sequence') return need;
  const { owned_by: _, ...rest } = need;
  return owner === undefined ? rest : { ...rest, owned_by: owner };
}
