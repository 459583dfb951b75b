/** Writes a large value as JSON text token by token. JSON.stringify of 30 MiB blocks the event loop for 0.1 s. */

/** Levels that are split into tokens. Deeper values are written as one token. */
const LEVELS = 3;

type Tokens = Generator<string, void, void>;

/** The joined tokens equal the output of `JSON.stringify`. */
export function* jsonTokens(value: unknown, levels = LEVELS): Tokens {
  if (levels === 0 || typeof value !== 'object' || value === null) yield JSON.stringify(value) ?? 'null';
  else if (Array.isArray(value)) yield* tokensOfArray(value, levels);
  else yield* tokensOfObject(value, levels);
}

function* tokensOfArray(elements: unknown[], levels: number): Tokens {
  yield '[';
  for (const [index, element] of elements.entries()) {
    if (index > 0) yield ',';
    yield* jsonTokens(element, levels - 1);
  }
  yield ']';
}

function* tokensOfObject(object: object, levels: number): Tokens {
  let before = '{';
  for (const [name, member] of Object.entries(object)) {
    if (member === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* jsonTokens(member, levels - 1);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}
