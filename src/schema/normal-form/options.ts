import { stepsIn } from '../../kernel/locate.js';
import type { Path } from '../../kernel/problem.js';
import type { Reading } from './checks.js';

export interface ReadOptions {
  /** A snapshot of another vendor or of the peer, read with force: its spellings are understood, its extras ignored. */
  imported: boolean;
  /** The members of `meta` may stand at the top level too, as in a create request. */
  topLevelMeta?: boolean;
  /** A new relation without `schema` gets a foreign key with the defaults (a request), instead of none (a snapshot). */
  foreignKeyByDefault?: boolean;
  /** Where members of the document stand in the body that it was made from. */
  stepsTo?: ((steps: Path) => Path) | undefined;
}

export interface FieldReadOptions extends ReadOptions {
  /** The collection a new field belongs to, where the document need not say. */
  collection?: string;
}

/** Of `input` at `at`. What is wrong with a member that a part which was left out would have is told at that part. */
export function startReading(input: object, at: Path, options: ReadOptions): Reading {
  const stepsTo = options.stepsTo ?? ((steps: Path) => stepsIn(input, steps));
  return { at, imported: options.imported, problems: [], stepsTo };
}
