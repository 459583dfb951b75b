/** What the parts of a restoration share. */
import type { CollectionNode, Identity, State } from '../model/state.js';
import type { Draft } from './draft.js';

/** Something that went with the collection and doesn't come back. */
export interface LeftOut {
  /** `member`: of `one_allowed_collections`; `constraint`: a foreign key that is no relation. */
  kind: 'relation' | 'alias' | 'member' | 'group' | 'constraint' | 'foreign key';
  collection: string;
  field?: string;
  /** Why, as a sentence's end: `there is no collection "authors" any more`. */
  reason: string;
}

/** What the parts of a restoration work on. Everything is by the names of now. */
export interface Restoring {
  state: State;
  /** The past by the names of now. */
  past: State;
  draft: Draft;
  /** What it is called now. */
  name: string;
  node: CollectionNode;
  /** Whether a collection of the past is still there, or the one that comes back. */
  isThere(collection: string): boolean;
  isThereField(collection: string, field: string): boolean;
  /** Whether a foreign key is to stay away. */
  isLeft(constraint: string): boolean;
  left: LeftOut[];
  /** A field that comes back with the collection. */
  brings(identity: Identity): void;
}

/** Why something stays away whose other side does. */
export const noCollection = ({ state }: Restoring, name: string | null | undefined): string =>
  name != null && state.collections.has(name)
    ? `another collection is called ${JSON.stringify(name)} now`
    : `there is no collection ${JSON.stringify(name)} any more`;

/** Why something stays away that the caller named. */
export const AS_ASKED = 'as it was asked for';
