/** The context that the parts of a restoration share. */
import type { CollectionNode, Identity, State } from '../model/state.js';
import type { Draft } from './draft.js';

/** Something that was deleted with the collection and is not restored. */
export interface LeftOut {
  /** `member`: of `one_allowed_collections`. `constraint`: a foreign key that is no relation. */
  kind: 'relation' | 'alias' | 'member' | 'group' | 'constraint' | 'foreign key';
  collection: string;
  field?: string;
  /** The reason as the end of a sentence: `there is no collection "authors" any more`. */
  reason: string;
}

/** All names are current ones. */
export interface Restoring {
  state: State;
  /** The past by current names. */
  past: State;
  draft: Draft;
  /** Its current name. */
  name: string;
  node: CollectionNode;
  /** True if a collection of the past still exists or is being restored. */
  isThere(collection: string): boolean;
  isThereField(collection: string, field: string): boolean;
  /** True if a foreign key is not restored. */
  isLeft(constraint: string): boolean;
  left: LeftOut[];
  /** A field that is restored with the collection. */
  brings(identity: Identity): void;
}

/** The reason if the other side does not exist. */
export const noCollection = ({ state }: Restoring, name: string | null | undefined): string =>
  name != null && state.collections.has(name)
    ? `another collection is called ${JSON.stringify(name)} now`
    : `there is no collection ${JSON.stringify(name)} any more`;

/** The reason if the client excluded it. */
export const AS_ASKED = 'as it was asked for';
