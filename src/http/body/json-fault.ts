/** What JSON text is not taken, and why. */
import type { Path } from '../../kernel/problem.js';

export interface JsonLimits {
  /** Values at most; a member or an element is one, and so is the whole. */
  values: number;
  /** Levels of arrays and objects. */
  depth: number;
  /** Members of one object: beyond some ten thousand, even listing their names takes long. */
  members: number;
  /** Elements of one array. */
  elements: number;
  /** Bytes of one string or number. */
  scalar: number;
}

/** What must not be exceeded, or `syntax`: the text isn't JSON. */
export type FaultKind = 'syntax' | 'duplicate' | keyof JsonLimits;

/** Why a text isn't taken, and where. */
export class JsonFault extends Error {
  override readonly name = 'JsonFault';
  readonly kind: FaultKind;
  readonly path: Path;
  /** The byte that has no place in JSON; null for any other fault. */
  readonly at: number | null;

  constructor(kind: FaultKind, message: string, { path, at }: { path: Path; at: number | null }) {
    super(message);
    this.kind = kind;
    this.path = path;
    this.at = at;
  }
}
