/** Texts as words of a shell. */

/** One word, in single quotes, for any shell of POSIX: nothing in it is expanded. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
