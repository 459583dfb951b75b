/** A sentence with names in it: names stand out, and are text whatever they hold. */
export type Phrase = readonly (string | { name: string })[];

/** `say\`${name} becomes required\``: what is put in is a name. */
export function say(texts: TemplateStringsArray, ...names: readonly string[]): Phrase {
  return texts.flatMap((text, index) => {
    const name = names[index];
    return [...(text === '' ? [] : [text]), ...(name === undefined ? [] : [{ name }])];
  });
}

/** As text, for who hears it and for files. */
export const plain = (phrase: Phrase): string =>
  phrase.map((part) => (typeof part === 'string' ? part : part.name)).join('');
