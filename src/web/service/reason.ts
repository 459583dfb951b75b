/** The reason header: UTF-8 bytes as latin1. Absent for an empty reason. */
export function reasonHeader(reason: string): Record<string, string> {
  if (reason.trim() === '') return {};
  return {
    'X-Reason': Array.from(new TextEncoder().encode(reason.trim()), (byte) => String.fromCharCode(byte)).join(''),
  };
}
