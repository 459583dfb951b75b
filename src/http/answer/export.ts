/** The file formats of snapshots. */
import type { Snapshot } from '../../schema/snapshot/snapshot.js';
import { bytes, type Texts } from '../../kernel/bytes.js';
import type { Resumable } from '../../kernel/resumable.js';
import { JSON_TYPE } from './answer.js';
import { csvTexts } from '../formats/csv.js';
import { indentedJsonTexts } from '../formats/indented-json.js';
import { xmlTexts } from '../formats/xml.js';
import { yamlTexts } from '../formats/yaml-texts.js';

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

/** `attachment; filename="snapshot-20261121-074501.json"` */
export function attachment(format: Export, time: Date): string {
  return `attachment; filename="snapshot-${stampOf(time)}.${FORMATS[format].extension}"`;
}

export function stampOf(time: Date): string {
  return time.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
}
