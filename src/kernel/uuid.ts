/** A uuid: 8-4-4-4-12 hexadecimal digits in either case. */
export const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Ids come from request paths and logs. A text that is no uuid matches nothing and must never reach a query. */
export const isUuid = (text: string): boolean => UUID.test(text);
