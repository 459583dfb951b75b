/** Lists the functions, types, operators and operator classes that SQL from outside may use. */
import {
  CHOSEN_EXTENSION_FUNCTIONS,
  CHOSEN_FUNCTIONS,
  GUARDED_FUNCTIONS,
  namesOf,
  POSTGIS,
  REFUSED_EXTENSION_FUNCTIONS,
  REFUSED_FUNCTIONS,
  REFUSED_TYPES,
  SEARCH_CONFIGURATION_TYPE,
} from './chosen-functions.js';
import { EXTENSION_NAMES, POSTGRES_NAMES, type WrittenNames } from './postgres-names.js';

export interface AllowedNames {
  functions: ReadonlySet<string>;
  types: ReadonlySet<string>;
  operators: ReadonlySet<string>;
  operatorClasses: ReadonlySet<string>;
}

const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');

const withoutAll = (names: readonly string[], refused: Iterable<string>): string[] => {
  const gone = new Set(refused);
  return names.filter((name) => !gone.has(name));
};

/** Names of PostgreSQL itself, which may be qualified with `pg_catalog.`. */
export const OWN_NAMES: AllowedNames = {
  functions: new Set([
    ...withoutAll(words(POSTGRES_NAMES.functions), namesOf([...REFUSED_FUNCTIONS, ...GUARDED_FUNCTIONS])),
    ...namesOf(CHOSEN_FUNCTIONS),
  ]),
  types: new Set(withoutAll(words(POSTGRES_NAMES.types), [...namesOf(REFUSED_TYPES), SEARCH_CONFIGURATION_TYPE])),
  operators: new Set(words(POSTGRES_NAMES.operators)),
  operatorClasses: new Set(words(POSTGRES_NAMES.operatorClasses)),
};

export const SEARCH_CONFIGURATIONS: ReadonlySet<string> = new Set(words(POSTGRES_NAMES.searchConfigurations));

/** By extension. */
export const NAMES_OF_EXTENSIONS: ReadonlyMap<string, AllowedNames> = new Map(
  Object.entries({ ...EXTENSION_NAMES, postgis: POSTGIS }).map(([extension, names]) => [
    extension,
    namesOfExtension(extension, names),
  ]),
);

function namesOfExtension(extension: string, names: WrittenNames): AllowedNames {
  const refused = REFUSED_EXTENSION_FUNCTIONS.get(extension)?.names ?? [];
  const chosen = CHOSEN_EXTENSION_FUNCTIONS.get(extension)?.names ?? [];
  return {
    functions: new Set([...withoutAll(words(names.functions), refused), ...chosen]),
    types: new Set(words(names.types)),
    operators: new Set(words(names.operators)),
    operatorClasses: new Set(words(names.operatorClasses)),
  };
}

/** Returns the extensions with an object of that name that a table may need, in order. */
export function extensionsWith(kind: keyof AllowedNames, name: string): string[] {
  return Object.keys(EXTENSION_NAMES).filter((each) => NAMES_OF_EXTENSIONS.get(each)?.[kind].has(name));
}
