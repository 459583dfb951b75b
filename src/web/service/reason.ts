/** Why something is done, as a header: its UTF-8 as the letters that headers may have. None for an empty one. */
export function reasonHeader(reason: string): Record<string, string> {
  if (reason.trim() === '') return {};
  return {
    'X-Reason': Array.from(new TextEncoder().encode(reason.trim()), (byte) => String.fromCharCode(byte)).join(''),
  };
}
