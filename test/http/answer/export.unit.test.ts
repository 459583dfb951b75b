import { expect } from 'chai';
import { attachment, type Export, EXPORTS, FORMATS } from '../../../src/http/answer/export.js';
import { parseYaml, writeYaml } from '../../../src/http/formats.js';
import type { Snapshot } from '../../../src/schema/snapshot/snapshot.js';

const snapshot = {
  version: 1,
  service: '1.0.0',
  vendor: 'postgres',
  collections: [
    { collection: 'a, "b"', meta: { collection: 'a, "b"', note: 'two\nlines' }, schema: null },
    { collection: '=1+1', meta: {}, schema: { name: '=1+1', comment: null } },
  ],
  fields: [{ collection: '=1+1', field: 'day', type: 'date', meta: {}, schema: { default_value: '2020-01-01' } }],
  relations: [{ id: 7, many_collection: '=1+1', many_field: 'x', one_allowed_collections: ['a'], schema: null }],
} as unknown as Snapshot;

const writeExport = (format: Export, document: Snapshot): string => [...FORMATS[format].write(document)].join('');

describe('exports', () => {
  it('a YAML export yields the same text in chunks as at once', () => {
    const lines = [
      '\n',
      ' a\n b',
      'a\n\n  b\n',
      '\n\na',
      'a: |\n b',
      '# a\r\nb',
      'a\u2028b\nc',
      '- a\n-',
      'null\n',
      '--- \na',
    ];
    const document = { ...snapshot, fields: [{ lines }, lines, [[lines]], 'null'] } as unknown as Snapshot;
    expect(writeExport('yaml', document)).equal(writeYaml(document));
  });

  it('JSON and YAML exports read back as the same document', () => {
    expect(JSON.parse(writeExport('json', snapshot))).deep.equal(snapshot);
    expect(parseYaml(writeExport('yaml', snapshot))).deep.equal(snapshot);
  });

  it('a CSV export has one row per collection, field and relation, with nested values as JSON', () => {
    expect(writeExport('csv', snapshot)).equal(
      [
        '"kind","collection","field","type","meta","schema","id","many_collection","many_field","one_collection",' +
          '"one_field","one_collection_field","one_allowed_collections","junction_field","sort_field","one_deselect_action"',
        '"collection","a, ""b""",,,"{""collection"":""a, \\""b\\"""",""note"":""two\\nlines""}",,,,,,,,,,,',
        '"collection","=1+1",,,"{}","{""name"":""=1+1"",""comment"":null}",,,,,,,,,,',
        '"field","=1+1","day","date","{}","{""default_value"":""2020-01-01""}",,,,,,,,,,',
        '"relation",,,,,,"7","=1+1","x",,,,"[""a""]",,,',
        '',
      ].join('\r\n'),
    );
  });

  it('a csv_utf8 export starts with a byte-order mark and contains no formula', () => {
    const exact = writeExport('csv', snapshot);
    expect(writeExport('csv_utf8', snapshot)).equal(`\ufeff${exact.replaceAll(',"=1+1"', `,"'=1+1"`)}`);
    for (const start of ['=', '+', '-', '@', '\t', '\r']) {
      const collection = { ...snapshot.collections[0]!, collection: `${start}x` };
      const text = writeExport('csv_utf8', { ...snapshot, collections: [collection] });
      expect(text).contain(`"'${start}x"`);
    }
  });

  it('an XML export is one document', () => {
    expect(writeExport('xml', snapshot)).match(/^<\?xml version="1.0" encoding="UTF-8"\?>\n<snapshot type="object">\n/);
  });

  it('are named so that they sort by time, and name their position', () => {
    const time = new Date('2026-01-02T03:04:05.678Z');
    const head = { position: 184, hash: `3dd83ede${'0'.repeat(56)}` };
    expect(EXPORTS.map((format) => attachment(format, time, head))).deep.equal([
      'attachment; filename="snapshot-20260102-030405-184-3dd83ede.csv"',
      'attachment; filename="snapshot-20260102-030405-184-3dd83ede.csv"',
      'attachment; filename="snapshot-20260102-030405-184-3dd83ede.json"',
      'attachment; filename="snapshot-20260102-030405-184-3dd83ede.xml"',
      'attachment; filename="snapshot-20260102-030405-184-3dd83ede.yaml"',
    ]);
  });
});
