import { stepsIn } from '../../kernel/locate.js';
import type { Path } from '../../kernel/problem.js';
import type { Reading } from './checks.js';

export interface ReadOptions {
  /**
   * True for a snapshot from another vendor or Directus, accepted with `force`. The reader then accepts other spellings
   * and ignores unknown members.
   */
  imported: boolean;
  /** True to accept members of `meta` at the top level, as in a create request. */
  topLevelMeta?: boolean;
  /**
   * True if a new relation without `schema` gets a default foreign key, as in a request. In a snapshot it gets none.
   */
  foreignKeyByDefault?: boolean;
  /** Maps members of the document to locations in the submitted body. */
  stepsTo?: ((steps: Path) => Path) | undefined;
}

export interface FieldReadOptions extends ReadOptions {
  /** The collection of a new field, if the document may omit it. */
  collection?: string;
}

/** Starts reading `input` at `at`. A problem in a part that the document omits has the location of the whole part. */
export function startReading(input: object, at: Path, options: ReadOptions): Reading {
  const stepsTo = options.stepsTo ?? ((steps: Path) => stepsIn(input, steps));
  return { at, imported: options.imported, problems: [], stepsTo };
}
