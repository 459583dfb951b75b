/** Converts documents to YAML and back. Loaded on use. */
import { CORE_SCHEMA, dump, load } from 'js-yaml';

/** @param document with JSON values only */
export const yamlText = (document: object): string => dump(document);

/**
 * Like the service, reads timestamps as text.
 * @throws YAMLException
 */
export const readYaml = (text: string): unknown => load(text, { schema: CORE_SCHEMA });
