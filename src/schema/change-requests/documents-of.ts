/** Documents that events name and that are stored outside the log. */

/** Payload members that contain hashes of documents. */
export const DOCUMENT_MEMBERS = ['document', 'comment'] as const;

/** By hash. */
export function documentsOf({ type, data }: { type: string; data: unknown }): string[] {
  if (!type.startsWith('change.') || typeof data !== 'object' || data === null) return [];
  const named = data as Readonly<Record<string, unknown>>;
  return DOCUMENT_MEMBERS.flatMap((member) => {
    const hash = Object.hasOwn(named, member) ? named[member] : undefined;
    return typeof hash === 'string' ? [hash] : [];
  });
}
