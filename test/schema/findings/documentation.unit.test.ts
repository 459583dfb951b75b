import { expect } from 'chai';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { findingPages } from '../../../scripts/docs/findings.js';
import { RULES } from '../../../src/schema/findings/rules/index.js';
import { ROOT, filesUnder, readPage, readWords } from '../../support/documents.js';

describe('the rules of findings', () => {
  it('are at least 25, each in a file with documentation', () => {
    const checked = RULES.filter(({ statement, field, relation, event }) => statement ?? field ?? relation ?? event);
    expect(checked.length).to.be.at.least(25);
    for (const { code, title, what, why, safer } of RULES) {
      for (const text of [title, what, why, safer]) expect(text, code).to.match(/^\S.{3,}/);
      expect(code).to.match(/^[A-Z_]+$/);
    }
    expect(new Set(RULES.map(({ code }) => code)).size).to.equal(RULES.length);
    const files = filesUnder('src/schema/findings/rules', '.ts').map((file) => readFileSync(join(ROOT, file), 'utf8'));
    for (const { code } of checked) {
      expect(
        files.filter((text) => text.includes(`code: '${code}'`)),
        code,
      ).to.have.length(1);
    }
  });

  it('match docs/findings (npm run docs -- findings)', () => {
    const pages = findingPages();
    expect(readdirSync(join(ROOT, 'docs/findings')).sort()).to.deep.equal([...pages.keys()].sort());
    for (const [name, text] of pages)
      expect(readWords(readPage(`docs/findings/${name}`)), name).to.deep.equal(readWords(text));
  });

  it('explain every warning code in the source', () => {
    const known = new Set(RULES.map(({ code }) => code));
    const sources = [
      'src/schema',
      'src/projector/online',
      'src/projector/catalog',
      'src/pipeline',
      'src/reads',
      'src/http',
    ]
      .flatMap((folder) => filesUnder(folder, '.ts'))
      .filter((file) => !file.startsWith('src/schema/findings/'));
    const output = sources.flatMap((file) => {
      const text = readFileSync(join(ROOT, file), 'utf8');
      const warned = [...text.matchAll(/'([A-Z_]+_(?:LEFT_OUT|CHANGED|ADDED|KEPT|RESTORED|PUBLICATION|PREPARED))'/g)];
      return warned.map(([, code = '']) => code);
    });
    // Rejections are not findings.
    const refused = new Set(['SCHEMA_CHANGED', 'LOG_CHANGED', 'PLAN_CHANGED']);
    const codes = new Set(output.filter((code) => !refused.has(code)));
    expect(codes.size).to.be.at.least(15);
    expect([...codes].filter((code) => !known.has(code))).to.deep.equal([]);
  });
});
