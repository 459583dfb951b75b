/** Ids that PostgreSQL keeps as uuid. */

/** 8-4-4-4-12 hexadecimal digits, of either case. */
export const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Ids come from request paths and from logs; what is no uuid names nothing, and must never reach a query. */
export const isUuid = (text: string): boolean => UUID.test(text);
