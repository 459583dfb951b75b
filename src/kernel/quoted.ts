/** Puts a name in double quotes, for messages. Null is written without quotes. */
export const quoted = (name: string | null): string => JSON.stringify(name);
