/** dps.lock: the schema from which the files were written. */
import { parseYaml, writeYaml, YamlError } from '../../http/formats/yaml.js';
import { OperatorError } from '../../kernel/operator-error.js';

export const LOCK = 'dps.lock';

export interface Lock {
  hash: string;
  /** A position with the hash of its event: `42-3f9a…`; `0` before the first event. */
  position: string;
  release: string;
}

const REMARK = '# Written by "dps pull": what these files were made from. It belongs to them.\n';

/** The text of the file with a comment for readers. */
export const writeLock = ({ hash, position, release }: Lock): string => REMARK + writeYaml({ hash, position, release });

/** @throws OperatorError if it is invalid */
export function readLock(text: string, file: string): Lock {
  const found = parsed(text, file) as Partial<Record<keyof Lock, unknown>> | null;
  const { hash, position, release } = found ?? {};
  const place = typeof position === 'number' ? String(position) : position;
  if (typeof hash === 'string' && typeof place === 'string' && typeof release === 'string') {
    if (/^\d{1,15}(?:-[0-9a-f]{8,64})?$/.test(place)) return { hash, position: place, release };
  }
  throw new OperatorError(`${file} isn't what "dps pull" writes: write it again with that.`);
}

function parsed(text: string, file: string): unknown {
  try {
    return parseYaml(text, { values: 100, characters: 10_000 });
  } catch (cause) {
    if (cause instanceof YamlError) throw new OperatorError(`${file} is no YAML: ${cause.message}.`, { cause });
    throw cause;
  }
}
