/** Quotes a text as one word in single quotes, for any POSIX shell. The shell expands nothing within the quotes. */
export const quoteForShell = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
