/** Lists the documents that events name. Their content is stored outside the log. */

/** Payload members that contain hashes of documents. */
export const DOCUMENT_MEMBERS = ['document', 'comment'] as const;

/** Returns the hashes of the documents that an event names. */
export function documentsOf({ type, data }: { type: string; data: unknown }): string[] {
  if (!type.startsWith('change.') || typeof data !== 'object' || data === null) return [];
  const named = data as Readonly<Record<string, unknown>>;
  return DOCUMENT_MEMBERS.flatMap((member) => {
    const hash = Object.hasOwn(named, member) ? named[member] : undefined;
    return typeof hash === 'string' ? [hash] : [];
  });
}
