/** The files that a snapshot can be saved as. */
import type { Snapshot } from '../../schema/snapshot/snapshot.js';
import { JSON_TYPE } from '../answer.js';
import { writeCsv } from './csv.js';
import { writeXml } from './xml.js';
import { writeYaml } from './yaml.js';

export const EXPORTS = ['csv', 'csv_utf8', 'json', 'xml', 'yaml'] as const;
export type Export = (typeof EXPORTS)[number];

interface Format {
  type: string;
  extension: string;
  write(snapshot: Snapshot): string;
}

export const FORMATS: Record<Export, Format> = {
  csv: {
    type: 'text/csv; charset=utf-8',
    extension: 'csv',
    write: (snapshot) => writeCsv(snapshot, { forSpreadsheets: false }),
  },
  csv_utf8: {
    type: 'text/csv; charset=utf-8',
    extension: 'csv',
    write: (snapshot) => writeCsv(snapshot, { forSpreadsheets: true }),
  },
  json: {
    type: JSON_TYPE,
    extension: 'json',
    write: (snapshot) => JSON.stringify(snapshot, null, 2) + '\n',
  },
  xml: {
    type: 'application/xml; charset=utf-8',
    extension: 'xml',
    write: (snapshot) => writeXml('snapshot', snapshot),
  },
  yaml: {
    type: 'application/yaml; charset=utf-8',
    extension: 'yaml',
    write: writeYaml,
  },
};

/** `attachment; filename="snapshot-20261121-074501.json"` */
export function attachment(format: Export, time: Date): string {
  return `attachment; filename="snapshot-${stampOf(time)}.${FORMATS[format].extension}"`;
}

/** `20261121-074501`: UTC, so that names sort by time. */
export function stampOf(time: Date): string {
  return time.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
}
