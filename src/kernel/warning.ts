/** What a change would lose, rewrite or lock, or what an import left out. A warning never rejects a request. */
export interface Warning {
  /** A stable identifier for programs: `SYSTEM_COLLECTION_LEFT_OUT`. */
  code: string;
  collection?: string;
  field?: string;
  /** One sentence for people. */
  message: string;
}
