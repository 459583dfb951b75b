/** What tables use beside themselves: a type, a sequence or an extension is one thing, however many tables name it. */
import { extrasOf, type CollectionNode } from './state.js';
import type { Need } from './extras.js';
import { jsonEqual } from '../../kernel/json.js';

const NONE: readonly Need[] = [];

export const needsOfNode = (node: CollectionNode | undefined): readonly Need[] => extrasOf(node).needs ?? NONE;

export const needLabel = ({ kind, name }: Pick<Need, 'kind' | 'name'>): string => `${kind} ${name}`;

export const ownerOf = (need: Need): string | undefined => (need.kind === 'sequence' ? need.owned_by : undefined);

/** Whether they are the same but for whose column a sequence ends with. */
export const isSameNeed = (a: Need, b: Need): boolean => jsonEqual(withOwner(a, undefined), withOwner(b, undefined));

export function withOwner(need: Need, owner: string | undefined): Need {
  if (need.kind !== 'sequence') return need;
  const { owned_by: _, ...rest } = need;
  return owner === undefined ? rest : { ...rest, owned_by: owner };
}
