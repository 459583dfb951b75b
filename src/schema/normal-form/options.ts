import { stepsIn } from '../../kernel/locate.js';
import type { Path } from '../../kernel/problem.js';
import type { Reading } from './checks.js';

export interface ReadOptions {
  /** A snapshot of another vendor or Directus, read with force: accepts other spellings and ignores extras. */
  imported: boolean;
  /** Accepts members of `meta` at the top level, as in a create request. */
  topLevelMeta?: boolean;
  /** A new relation without `schema` gets a default foreign key (a request) instead of none (a snapshot). */
  foreignKeyByDefault?: boolean;
  /** Maps members of the document to locations in the submitted body. */
  stepsTo?: ((steps: Path) => Path) | undefined;
}

export interface FieldReadOptions extends ReadOptions {
  /** The collection of a new field, if the document may omit it. */
  collection?: string;
}

/** Starts reading `input` at `at`. Problems in an omitted part are reported for the part. */
export function startReading(input: object, at: Path, options: ReadOptions): Reading {
  const stepsTo = options.stepsTo ?? ((steps: Path) => stepsIn(input, steps));
  return { at, imported: options.imported, problems: [], stepsTo };
}
