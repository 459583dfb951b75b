/** A sentence with names, which are highlighted and always rendered as text. */
export type Phrase = readonly (string | { name: string })[];

/** `say\`${name} becomes required\``: interpolated values are names. */
export function say(texts: TemplateStringsArray, ...names: readonly string[]): Phrase {
  return texts.flatMap((text, index) => {
    const name = names[index];
    return [...(text === '' ? [] : [text]), ...(name === undefined ? [] : [{ name }])];
  });
}

/** Plain text for screen readers and files. */
export const plain = (phrase: Phrase): string =>
  phrase.map((part) => (typeof part === 'string' ? part : part.name)).join('');
