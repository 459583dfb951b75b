/** Converts YAML to JSON text, so that both are processed the same way. */
import { runToEnd } from '../../kernel/resumable.js';
import { checkJson } from '../../schema/normal-form/json.js';
import type { Problem } from '../../kernel/problem.js';
import { parseYaml, YamlError, type YamlLimits, YamlSizeError } from '../formats.js';

export type YamlRead =
  | { kind: 'json'; bytes: Uint8Array<ArrayBuffer> }
  /** The text is not an acceptable YAML document. */
  | { kind: 'fault'; message: string }
  | { kind: 'too large'; message: string }
  /** The text is YAML with values that JSON cannot represent. */
  | { kind: 'refused'; problems: Problem[] };

/** @param bytes text in UTF-8 */
export function readYamlAsJson(bytes: Uint8Array, limits: YamlLimits): YamlRead {
  try {
    const value = parseYaml(new TextDecoder().decode(bytes), limits);
    const { problems } = runToEnd(checkJson(value));
    if (problems.length > 0) return { kind: 'refused', problems };
    return { kind: 'json', bytes: new TextEncoder().encode(JSON.stringify(value)) };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return { kind: error instanceof YamlSizeError ? 'too large' : 'fault', message: error.message };
  }
}
