/**
 * A transcript of what people and programs read of the service, held whole against a file of `test/fixtures` that is
 * checked in. `UPDATE_FIXTURES=1` writes the file, for whoever then reads what changed in it.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

/** What differs from run to run. Each stands for as many characters where columns depend on them. */
const MASKS: readonly [RegExp, string][] = [
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<an id that has thirty-six letters.>'],
  [/[0-9a-f]{64}/g, '<hash>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z/g, '<a time in UTC, to ms.>'],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, '<a time, to a sec.>'],
  [/dps_test_\w+/g, '<database>'],
  [/release \d+\.\d+\.\d+/g, 'release <release>'],
  [/PostgreSQL \d+\.\d+/g, 'PostgreSQL <version>'],
  [/(?<=data-platform-service)\+[0-9a-f]{8}\+[\w+/=]+/g, '+<key>'],
  [/dps_[\w-]{43}/g, 'dps_<secret>'],
  [/(?<=once: )[\w-]{43}/g, '<secret>'],
  [/\d+ ms\b/g, '<some> ms'],
  [/\d+ bytes/g, '<some> bytes'],
  // Statistics follow their table when they come to it.
  [
    /\((PostgreSQL does not know yet how many rows|about [\d,]+ rows?)[^;)]*(; counted since its statistics began)?/g,
    '(<its size>',
  ],
  // As late, and later than the rows.
  [/ \((?:the statistics count no use of its table|its table is used, by the statistics)\)/g, ''],
  [/127\.0\.0\.1:\d+/g, '<address>'],
  [/^[\w+/]{43}=$/gm, '<hash in base64>'],
  [/(?<=— data-platform-service )\S+/g, '<signature>'],
];

export interface Transcript {
  add(text: string): void;
  /** Takes the last one away. */
  drop(): void;
  /** Throws where it isn't what the file holds. @param masks of this transcript, taken first */
  expectAsBefore(masks?: readonly (readonly [RegExp | string, string])[]): Promise<void>;
}

/** @param name of the file in `test/fixtures` */
export function createTranscript(name: string): Transcript {
  const file = fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
  const parts: string[] = [];
  return {
    add: (text) => void parts.push(text),
    drop: () => void parts.pop(),
    expectAsBefore: async (masks = []) => {
      let text = `${parts.join('\n\n')}\n`;
      for (const [pattern, mask] of [...masks, ...MASKS]) text = text.replaceAll(pattern, mask);
      if (process.env['UPDATE_FIXTURES'] === '1') await writeFile(file, text);
      const [found, kept] = [text.split('\n'), (await readFile(file, 'utf8')).split('\n')];
      const at = kept.findIndex((line, index) => line !== found[index]);
      // Where it begins to differ, with what is around it: the whole would be too long to read.
      const around = (lines: readonly string[]) => lines.slice(Math.max(at - 12, 0), at < 0 ? undefined : at + 12);
      expect(around(found)).to.deep.equal(around(kept));
      expect(found).to.have.length(kept.length);
    },
  };
}
