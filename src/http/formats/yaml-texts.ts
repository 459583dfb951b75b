import { writeYaml } from './yaml.js';

/** The output of `writeYaml(document)`. */
export function* yamlTexts(document: object): Generator<string, void, void> {
  for (const [name, member] of Object.entries(document)) {
    if (Array.isArray(member) && member.length > 0) {
      yield writeYaml({ [name]: null }).replace(/ null\n$/, '\n');
      for (const element of member) yield indented(writeYaml([element]));
    } else yield writeYaml({ [name]: member });
  }
}

/** Empty lines belong to strings and stay unchanged. */
const indented = (text: string): string => text.replace(/^(?=[^\n])|(?<=\n)(?=[^\n])/g, '  ');
