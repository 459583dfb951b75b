/** The output of `JSON.stringify(document, null, 2)` with a newline. */
export function* indentedJsonTexts(document: object): Generator<string, void, void> {
  let before = '{\n  ';
  for (const [name, member] of Object.entries(document)) {
    yield `${before}${JSON.stringify(name)}: `;
    if (Array.isArray(member)) yield* arrayTexts(member);
    else yield indented(member, '  ');
    before = ',\n  ';
  }
  yield '\n}\n';
}

function* arrayTexts(elements: readonly unknown[]): Generator<string, void, void> {
  let before = '[\n    ';
  for (const element of elements) {
    yield before + indented(element, '    ');
    before = ',\n    ';
  }
  yield elements.length === 0 ? '[]' : '\n  ]';
}

/** Newlines occur only between members and elements, because strings escape them. */
const indented = (value: unknown, by: string): string => JSON.stringify(value, null, 2).replaceAll('\n', `\n${by}`);
