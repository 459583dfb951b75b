/** Documents that events name, beside the log. */

/** By hash. */
export function documentsOf({ type, data }: { type: string; data: unknown }): string[] {
  if (!type.startsWith('change.') || typeof data !== 'object' || data === null) return [];
  const { document } = data as { document?: unknown };
  return typeof document === 'string' ? [document] : [];
}
