/** Writes CSV (RFC 4180): one row per collection, field and relation, with nested values as JSON. */
import { RELATION_MEMBERS } from '../../schema/model/model.js';
import { stringify } from 'csv-stringify/sync';
import type { Snapshot } from '../../schema/snapshot/snapshot.js';

const COLUMNS = ['kind', 'collection', 'field', 'type', 'meta', 'schema', 'id', ...RELATION_MEMBERS] as const;

const BYTE_ORDER_MARK = '\ufeff';

/**
 * `forSpreadsheets` adds a byte-order mark, without which spreadsheets assume another encoding, and neutralizes
 * formulas. Otherwise every cell is exact.
 */
export function* csvTexts(snapshot: Snapshot, { forSpreadsheets }: { forSpreadsheets: boolean }): Generator<string> {
  if (forSpreadsheets) yield BYTE_ORDER_MARK;
  yield written([[...COLUMNS]]);
  for (const row of rowsOf(snapshot)) yield written([forSpreadsheets ? row.map(withoutFormula) : row]);
}

type Row = (string | null)[];

const written = (rows: Row[]): string => stringify(rows, { record_delimiter: '\r\n', quoted_string: true });

function* rowsOf({ collections, fields, relations }: Snapshot): Generator<Row> {
  for (const row of collections) yield cells('collection', row);
  for (const row of fields) yield cells('field', row);
  for (const row of relations) yield cells('relation', row);
}

/** Characters that start a formula: https://owasp.org/www-community/attacks/CSV_Injection */
function withoutFormula(cell: string | null): string | null {
  return cell !== null && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
}

/** An empty cell is null or missing; an empty string is written as two quotes. */
function cells(kind: string, row: object): Row {
  const members = row as Partial<Record<string, unknown>>;
  return COLUMNS.map((column) => {
    if (column === 'kind') return kind;
    const value = members[column];
    if (value === undefined || value === null) return null;
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
}
