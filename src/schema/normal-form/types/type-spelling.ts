/** An unsupported type keeps PostgreSQL's text, because another spelling would differ from the catalog. */
import { dataType, parseDataType, type WrittenType } from '../../sql-text/data-types.js';
import { typeFromColumn, UNKNOWN_TYPE } from './field-types.js';

const SERIAL = /^(?:small|big)?serial[248]?$/i;

/** Returns why the text is not PostgreSQL's spelling of the type, or is a supported type. Null if it is valid. */
export function spellingFault(text: string): string | null {
  const element = text.replace(/\[\]$/, '');
  if (SERIAL.test(element)) return 'is no type of a column: use integer or bigInteger, with has_auto_increment';
  if (/^pg_catalog\./i.test(text)) return 'must be written without pg_catalog';
  if (!text.startsWith('"') && /^\s|\s$|[[\]]|\barray\b/i.test(element)) {
    return 'must be written as PostgreSQL shows it: an array is its element and []';
  }
  const written = namedType(element);
  if (written === null) return null;
  const usual = rendered(written);
  const { type } = typeFromColumn(usual);
  if (element === text && type !== UNKNOWN_TYPE) return `is a type with a name here: use ${type}`;
  return element === usual ? null : `must be written as PostgreSQL shows it: ${usual}${text.slice(element.length)}`;
}

/** PostgreSQL's spelling of unsupported types with several spellings. */
const SHOWN: ReadonlyMap<string, WrittenType> = new Map([
  ['timetz', { name: 'time with time zone', parameters: [] }],
  ['varbit', { name: 'bit varying', parameters: [] }],
  ['bit', { name: 'bit', parameters: [1] }],
]);

function namedType(element: string): WrittenType | null {
  const written = parseDataType(element);
  if (written === null) return null;
  const { name, parameters } = written;
  const shown = SHOWN.get(name);
  if (shown !== undefined) return parameters.length === 0 ? shown : { name: shown.name, parameters };
  // `bpchar` without a length differs from `character`.
  const isOther = element === 'bpchar' && parameters.length === 0;
  return isOther || dataType(name) === undefined ? null : written;
}

/** The precision of a time type follows the first word: `timestamp(3) with time zone`. */
function rendered({ name, parameters }: WrittenType): string {
  if (parameters.length === 0) return name;
  const [first = '', ...rest] = name.startsWith('time') ? name.split(' ') : [name];
  return [`${first}(${parameters.join(',')})`, ...rest].join(' ');
}
