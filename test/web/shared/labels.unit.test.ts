/** Labels and titles contain names, and adopted names may contain hidden characters. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../../support/documents.js';

const WEB = join(ROOT, 'src/web');

const UNTAGGED = /(?:\b(?:aria-label|title|about)=\{|\btitle: |'aria-label': )`[^`]*\$\{[^`]*`/g;

describe('labels and titles of the admin app', () => {
  it('escape hidden characters of names: their templates are tagged with "named"', () => {
    const files = readdirSync(WEB, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.tsx'));
    expect(files.length).to.be.greaterThan(50);
    const untagged = files.flatMap((file) =>
      [...readFileSync(join(WEB, file), 'utf8').matchAll(UNTAGGED)].map(([text]) => `${file}: ${text}`),
    );
    expect(untagged).to.deep.equal([]);
  });
});
