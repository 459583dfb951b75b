export const quoted = (name: string | null): string => JSON.stringify(name);
