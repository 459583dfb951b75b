/** The file formats of snapshots. */
import { stringify } from 'csv-stringify/sync';
import type { Snapshot } from '../../schema/snapshot/snapshot.js';
import { bytes, type Texts } from '../../kernel/bytes.js';
import type { Resumable } from '../../kernel/resumable.js';
import { JSON_TYPE } from './answer.js';
import { indentedJsonTexts, xmlTexts, writeYaml } from '../formats.js';
import { RELATION_MEMBERS } from '../../schema/model/model.js';

/* Writes CSV (RFC 4180): one row per collection, field and relation, with nested values as JSON. */

const COLUMNS = ['kind', 'collection', 'field', 'type', 'meta', 'schema', 'id', ...RELATION_MEMBERS] as const;

const BYTE_ORDER_MARK = '\ufeff';

/**
 * Writes the snapshot as CSV. `forSpreadsheets` adds a byte-order mark, without which spreadsheets assume another
 * encoding, and neutralizes formulas. Otherwise, every cell has its exact value.
 */
function* csvTexts(snapshot: Snapshot, { forSpreadsheets }: { forSpreadsheets: boolean }): Generator<string> {
  if (forSpreadsheets) yield BYTE_ORDER_MARK;
  yield toCsv([[...COLUMNS]]);
  for (const row of rowsOf(snapshot)) yield toCsv([forSpreadsheets ? row.map(withoutFormula) : row]);
}

type Row = (string | null)[];

const toCsv = (rows: Row[]): string => stringify(rows, { record_delimiter: '\r\n', quoted_string: true });

function* rowsOf({ collections, fields, relations }: Snapshot): Generator<Row> {
  for (const row of collections) yield cells('collection', row);
  for (const row of fields) yield cells('field', row);
  for (const row of relations) yield cells('relation', row);
}

/** Neutralizes characters that start a formula, see https://owasp.org/www-community/attacks/CSV_Injection */
function withoutFormula(cell: string | null): string | null {
  return cell !== null && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
}

/** Returns the cells of a row. An empty cell means null or missing. An empty string is written as two quotes. */
function cells(kind: string, row: object): Row {
  const members = row as Partial<Record<string, unknown>>;
  return COLUMNS.map((column) => {
    if (column === 'kind') return kind;
    const value = members[column];
    if (value === undefined || value === null) return null;
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
}

/** Yields the output of `writeYaml(document)`. */
function* yamlTexts(document: object): Generator<string, void, void> {
  for (const [name, member] of Object.entries(document)) {
    if (Array.isArray(member) && member.length > 0) {
      yield writeYaml({ [name]: null }).replace(/ null\n$/, '\n');
      for (const element of member) yield indented(writeYaml([element]));
    } else yield writeYaml({ [name]: member });
  }
}

/** Indents the lines of a string. Empty lines belong to strings and are not changed. */
const indented = (text: string): string => text.replace(/^(?=[^\n])|(?<=\n)(?=[^\n])/g, '  ');

export const EXPORTS = ['csv', 'csv_utf8', 'json', 'xml', 'yaml'] as const;
export type Export = (typeof EXPORTS)[number];

interface Format {
  type: string;
  extension: string;
  write(snapshot: Snapshot): Texts;
}

export const FORMATS: Record<Export, Format> = {
  csv: {
    type: 'text/csv; charset=utf-8',
    extension: 'csv',
    write: (snapshot) => csvTexts(snapshot, { forSpreadsheets: false }),
  },
  csv_utf8: {
    type: 'text/csv; charset=utf-8',
    extension: 'csv',
    write: (snapshot) => csvTexts(snapshot, { forSpreadsheets: true }),
  },
  json: {
    type: JSON_TYPE,
    extension: 'json',
    write: indentedJsonTexts,
  },
  xml: {
    type: 'application/xml; charset=utf-8',
    extension: 'xml',
    write: (snapshot) => xmlTexts('snapshot', snapshot),
  },
  yaml: {
    type: 'application/yaml; charset=utf-8',
    extension: 'yaml',
    write: yamlTexts,
  },
};

/** Writes `snapshot` as the bytes of a file. */
export function* exportFile(snapshot: Resumable<Snapshot>, write: Format['write']): Resumable<Buffer> {
  return yield* bytes(write(yield* snapshot));
}

/**
 * Returns the value of Content-Disposition: `attachment; filename="snapshot-20261121-074501-184-3dd83ede.json"`. The
 * position of the schema and the beginning of the hash of its event identify the log, so an import finds the base of a
 * merge.
 */
export function attachment(format: Export, time: Date, { position, hash }: { position: number; hash: string }): string {
  return `attachment; filename="snapshot-${stampOf(time)}-${position}-${hash.slice(0, 8)}.${FORMATS[format].extension}"`;
}

/** The media types of snapshot files other than JSON. */
export const EXPORT_TYPES: readonly string[] = [
  ...new Set(EXPORTS.map((format) => FORMATS[format].type.replace(/;.*/, ''))),
].filter((type) => type !== 'application/json');

export function stampOf(time: Date): string {
  return time.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
}
