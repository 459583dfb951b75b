/**
 * Warns that a change would lose, rewrite or lock something, or that an import skipped something. A warning never
 * rejects a request.
 */
export interface Warning {
  /** A stable identifier for programs: `SYSTEM_COLLECTION_LEFT_OUT`. */
  code: string;
  collection?: string;
  field?: string;
  /** One sentence for people. */
  message: string;
}
