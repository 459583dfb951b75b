import type { Path } from '../../kernel/problem.js';

export interface JsonLimits {
  /** Maximum number of values, counting members, elements and the document itself. */
  values: number;
  /** Maximum nesting of arrays and objects. */
  depth: number;
  /** Maximum members of one object. Beyond about ten thousand, even listing the names is slow. */
  members: number;
  /** Maximum elements of one array. */
  elements: number;
  /** Maximum bytes of one string or number. */
  scalar: number;
}

/** The exceeded limit, or `syntax` for text that is not JSON. */
export type FaultKind = 'syntax' | 'duplicate' | keyof JsonLimits;

/** The reason and the location of a rejection. */
export class JsonFault extends Error {
  override readonly name = 'JsonFault';
  readonly kind: FaultKind;
  readonly path: Path;
  /** The position of the invalid byte; null for other faults. */
  readonly at: number | null;

  constructor(kind: FaultKind, message: string, { path, at }: { path: Path; at: number | null }) {
    super(message);
    this.kind = kind;
    this.path = path;
    this.at = at;
  }
}
