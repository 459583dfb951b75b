/** Documents as YAML, and YAML as documents. Loaded when somebody asks for it. */
import { CORE_SCHEMA, dump, load } from 'js-yaml';

/** @param document of JSON values alone */
export const yamlText = (document: object): string => dump(document);

/** As the service reads it: what looks like a time is text. @throws YAMLException */
export const readYaml = (text: string): unknown => load(text, { schema: CORE_SCHEMA });
