/** A document as YAML. Loaded when somebody asks for it. */
import { dump } from 'js-yaml';

export const yamlText = (document: object): string => dump(document);
