/** The rules of language in `npm run lint`. */
import { expect } from 'chai';
import { checkPauses } from '../scripts/language/pauses.js';
import { checkLanguage } from '../scripts/language/rules.js';

const reported = (source: string, path = 'test/a.unit.test.ts'): string[] =>
  checkLanguage(path, source).map(({ line, text }) => `${line}: ${text}`);

describe('the lint of language', () => {
  for (const word of ['Of', 'Whether', 'What']) {
    it(`reports a comment that starts with "${word}"`, () => {
      expect(reported(`\n/** ${word} a column. */`)).to.deep.equal([`2: a comment starts with "${word}"`]);
      expect(reported(`// ${word} a column.`)).to.deep.equal([`1: a comment starts with "${word}"`]);
      expect(reported(`// A text\n// ${word} two lines.`)).to.deep.equal([]);
    });
  }

  it('accepts a comment that asks a question', () => {
    expect(reported('// What if it fails? It is retried.')).to.deep.equal([]);
  });

  it('reports types and components with vague names', () => {
    const source = 'interface Place {}\ntype Given = 1;\nfunction Whole() {}\nconst Parts = 1;\nclass Way {}';
    expect(reported(source)).to.deep.equal(
      ['Place', 'Given', 'Whole', 'Parts', 'Way'].map(
        (name, index) => `${index + 1}: "${name}" says nothing as a name`,
      ),
    );
    expect(reported('interface TableLocation {}\nconst given = 1;')).to.deep.equal([]);
  });

  it('reports a test title without a verb', () => {
    const noVerb = (title: string) => [`1: the test title "${title}" has no verb`];
    expect(reported("it('as text', f)")).to.deep.equal(noVerb('as text'));
    expect(reported('it.only(`from ${a}`, f)')).to.deep.equal(noVerb('from …'));
    for (const title of ['rejects it', 'expire in time', 'given a, when b, then c', '${a}: ${b}']) {
      expect(reported(`it(\`${title}\`, f)`), title).to.deep.equal([]);
    }
  });

  it('reports "peer" for a product, and accepts it for a connection', () => {
    const text = '1: a product is called "peer"; write its name';
    for (const source of ['const peerForm = 1;', '// as the peer does', "import './peer-form.js'"]) {
      expect(reported(source), source).to.deep.equal([text]);
    }
    expect(reported('const peer = socket.remoteAddress;', 'src/http/request-log.ts')).to.deep.equal([]);
    expect(reported('const peerless = 1;')).to.deep.equal([]);
  });
});

describe('the lint of pauses', () => {
  const paused = (path: string, source: string): number[] => checkPauses(path, source).map(({ line }) => line);

  it('reports a pause in a file that is not listed', () => {
    expect(paused('src/schema/fold/evolve.ts', 'a();\n  yield;\n  yield* pause();\n')).to.deep.equal([2, 3]);
    expect(paused('src/schema/fold/evolve.ts', 'yield text;\nyield* steps();\n')).to.deep.equal([]);
    expect(paused('test/a.unit.test.ts', 'yield;')).to.deep.equal([]);
  });

  it('reports a listed file that no longer pauses', () => {
    expect(paused('src/schema/diff/diff.ts', 'yield;')).to.deep.equal([]);
    expect(paused('src/schema/diff/diff.ts', 'a();')).to.deep.equal([1]);
  });
});
