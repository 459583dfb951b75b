import { expect } from 'chai';
import fc from 'fast-check';
import { character } from '../../support/characters.js';
import { type Export, FORMATS } from '../../../src/http/answer/export.js';
import { writeYaml } from '../../../src/http/formats.js';
import type { Snapshot } from '../../../src/schema/snapshot/snapshot.js';

const writeExport = (format: Export, document: Snapshot): string => [...FORMATS[format].write(document)].join('');

const json = fc.jsonValue({ stringUnit: character });
const anySnapshot = fc.record({
  version: fc.integer(),
  service: fc.string({ unit: character }),
  collections: fc.array(fc.dictionary(fc.string(), json)),
  fields: fc.array(json),
  relations: fc.constant([]),
});

it('an export in JSON and YAML yields the same text in chunks as at once, for any value', () => {
  fc.assert(
    fc.property(anySnapshot, (value) => {
      const document = value as unknown as Snapshot;
      expect(writeExport('json', document)).equal(`${JSON.stringify(document, null, 2)}\n`);
      expect(writeExport('yaml', document)).equal(writeYaml(document));
    }),
  );
});
