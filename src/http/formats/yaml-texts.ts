/** YAML out, in chunks. */
import { writeYaml } from './yaml.js';

/** What `writeYaml(document)` would write. */
export function* yamlTexts(document: object): Generator<string, void, void> {
  for (const [name, member] of Object.entries(document)) {
    if (Array.isArray(member) && member.length > 0) {
      yield writeYaml({ [name]: null }).replace(/ null\n$/, '\n');
      for (const element of member) yield indented(writeYaml([element]));
    } else yield writeYaml({ [name]: member });
  }
}

/** Empty lines are those of a string, and stay as they are. */
const indented = (text: string): string => text.replace(/^(?=[^\n])|(?<=\n)(?=[^\n])/g, '  ');
