/** What a change would lose, rewrite or lock, or what was left out of an imported snapshot; never a reason to refuse. */
export interface Warning {
  /** Stable, for machines: `SYSTEM_COLLECTION_LEFT_OUT`. */
  code: string;
  collection?: string;
  field?: string;
  /** One sentence for people. */
  message: string;
}
