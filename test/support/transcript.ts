/**
 * A transcript of everything people and programs read, compared with a file of `test/fixtures`. `UPDATE_FIXTURES=1`
 * writes the file, whose diff must then be reviewed.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

/** Values that differ between runs. Masks keep the width where columns depend on it. */
const MASKS: readonly [RegExp, string][] = [
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<an id that has thirty-six letters.>'],
  [/[0-9a-f]{64}/g, '<hash>'],
  [/("salt": ?")[0-9a-f]{32}"/g, '$1<salt>"'],
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
  // Statistics are updated at an unknown time after their table.
  [
    /\((the number of rows is not known|about [\d,]+ rows?)[^;)]*(; counted since its statistics began)?/g,
    '(<its size>',
  ],
  // Updated together with those of rows, or later.
  [/ \((?:the statistics count no use of its table|the statistics count use of its table)\)/g, ''],
  [/127\.0\.0\.1:\d+/g, '<address>'],
  [/^[\w+/]{43}=$/gm, '<hash in base64>'],
  [/(?<=— data-platform-service )\S+/g, '<signature>'],
];

export interface Transcript {
  add(text: string): void;
  /** Removes the last entry. */
  drop(): void;
  /**
   * Throws if it differs from the file.
   * @param masks of this transcript, applied first
   */
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
      const [actual, kept] = [text.split('\n'), (await readFile(file, 'utf8')).split('\n')];
      const at = kept.findIndex((line, index) => line !== actual[index]);
      // The first difference with its context, because the complete text would be too long.
      const around = (lines: readonly string[]) => lines.slice(Math.max(at - 12, 0), at < 0 ? undefined : at + 12);
      expect(around(actual)).to.deep.equal(around(kept));
      expect(actual).to.have.length(kept.length);
    },
  };
}
