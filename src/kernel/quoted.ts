/** In double quotes, for messages; `null` without them. */
export const quoted = (name: string | null): string => JSON.stringify(name);
