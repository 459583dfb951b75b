import { expect } from 'chai';
import { type FindingFormat, type PrintedFinding, type Source, printFindings } from '../../../src/cli/findings.js';
import { ruleOf } from '../../../src/schema/findings/finding.js';

/** As a service returns them, with the policy's action. */
const FINDINGS: readonly (PrintedFinding & { action?: string })[] = [
  {
    code: 'LOSES_DATA',
    level: 'danger',
    collection: 'posts',
    field: 'title',
    message: 'The values of posts.title are lost.',
    why: 'They come back only from a backup.',
    safer: { text: 'Rename it.', request: { method: 'PATCH', path: '/fields/posts/title', body: { a: 1 } } },
    action: 'refuse',
  },
  {
    code: 'REWRITES_TABLE',
    collection: 'a|b',
    object: { kind: 'index', name: 'by `x`' },
    message: 'It is *rewritten*,\n  100 %: [all](x) | of it.',
    why: 'It is *rewritten*,\n  100 %: [all](x) | of it.',
    safer: { text: 'Later.', request: { method: 'GET', path: '/table' } },
    action: 'acknowledge',
  },
  { code: 'UNHEARD_OF', level: 'note', message: 'Nothing, really.', action: 'note' },
];

const TEXT = `collection: other
fields:
  - field: title
collection: posts
fields:
  - { field: 'body', x: 1 }
  - "field": "title"
"collection": "a|b"`;

const FILE: Source = { file: 'a folder/posts.yaml', text: TEXT };
const NONE: Source = { file: null, text: '' };

const printed = (format: FindingFormat, source = NONE, findings = FINDINGS): string =>
  printFindings(findings, format, source);

describe('findings', () => {
  it('can be printed as text', () => {
    expect(printed('text')).to.equal(`danger LOSES_DATA posts.title
  The values of posts.title are lost.
  why: They come back only from a backup.
  safer: Rename it.
    PATCH /fields/posts/title {"a":1}
  the policy rejects it

warn   REWRITES_TABLE a|b (index by \`x\`)
  It is *rewritten*,
  100 %: [all](x) | of it.
  safer: Later.
    GET /table
  the policy requires an acknowledgement (--acknowledge 'REWRITES_TABLE:a|b')

note   UNHEARD_OF
  Nothing, really.

3 findings: 1 danger, 1 warn, 1 note.`);
    expect(printed('text', NONE, [])).to.equal('No findings.');
    expect(printed('text', NONE, [{ code: 'A', message: 'b' }])).to.equal('warn   A\n  b\n\n1 finding: 1 warn.');
  });

  it('can be printed as JSON', () => {
    expect(JSON.parse(printed('json'))).to.deep.equal({ findings: FINDINGS });
  });

  it('can be printed as Markdown with all markup escaped', () => {
    expect(printed('markdown')).to.equal(String.raw`**3 findings: 1 danger, 1 warn, 1 note.**

| level | finding | location | message | safer alternative |
| --- | --- | --- | --- | --- |
| 🛑 danger | ${'`LOSES_DATA`'} | ${'`posts.title`'} | The values of posts.title are lost.; the policy rejects it | Rename it.<br>${'`PATCH /fields/posts/title {"a":1}`'} |
| ⚠️ warn | ${'`REWRITES_TABLE`'} | ${'`` a\\|b (index by `x`) ``'} | It is \*rewritten\*, 100 %: \[all\](x) \| of it.; the policy requires an acknowledgement (--acknowledge 'REWRITES\_TABLE:a\|b') | Later.<br>${'`GET /table`'} |
| ℹ️ note | ${'`UNHEARD_OF`'} |  | Nothing, really. |  |
`);
    expect(printed('markdown', NONE, [])).to.equal('No findings.\n');
  });

  it('can be printed as GitHub annotations, each on its line', () => {
    const text = 'It is *rewritten*,%0A  100 %25: [all](x) | of it.';
    const acknowledged = `the policy requires an acknowledgement (--acknowledge 'REWRITES_TABLE:a|b')`;
    const lines = (at: (line: number) => string) => [
      `::error ${at(7)}title=LOSES_DATA posts.title::The values of posts.title are lost.%0Athe policy rejects it%0ARename it.%0APATCH /fields/posts/title {"a":1}`,
      `::error ${at(8)}title=REWRITES_TABLE a|b (index by \`x\`)::${text}%0A${acknowledged}%0ALater.%0AGET /table`,
      `::notice ${at(1)}title=UNHEARD_OF::Nothing, really.`,
    ];
    expect(printed('github').split('\n')).to.deep.equal(lines(() => ''));
    expect(printed('github', FILE).split('\n')).to.deep.equal(
      lines((line) => `file=a folder/posts.yaml,line=${line},`),
    );
    const plain = (level?: 'danger' | 'warn' | 'note') =>
      printed('github', { file: 'a:b,c', text: '' }, [{ code: 'A', message: 'b', ...(level && { level }) }]);
    expect([plain('danger'), plain('warn'), plain('note'), plain()]).to.deep.equal(
      ['error', 'warning', 'notice', 'warning'].map((command) => `::${command} file=a%3Ab%2Cc,line=1,title=A::b`),
    );
  });

  it('can be printed as SARIF, with their rules', () => {
    interface Log {
      version: string;
      runs: { tool: { driver: { name: string; rules: object[] } }; columnKind: string; results: object[] }[];
    }
    const { version, runs } = JSON.parse(printed('sarif', FILE)) as Log;
    const [run] = runs;
    expect([version, runs.length, run?.tool.driver.name, run?.columnKind]).to.deep.equal([
      '2.1.0',
      1,
      'dps lint',
      'utf16CodeUnits',
    ]);
    const described = (code: string, level: string) => {
      const { title = '', what = '', why = '', safer = '' } = ruleOf(code) ?? {};
      return {
        id: code,
        shortDescription: { text: `${title}.` },
        fullDescription: { text: `${what} ${why}` },
        help: { text: safer },
        defaultConfiguration: { level },
      };
    };
    expect(run?.tool.driver.rules).to.have.deep.members([
      described('LOSES_DATA', 'error'),
      described('REWRITES_TABLE', 'warning'),
    ]);
    const ruleIndex = (code: string) =>
      run?.tool.driver.rules.findIndex((rule) => (rule as { id: string }).id === code);
    const place = (startLine: number) => ({
      physicalLocation: { artifactLocation: { uri: 'a%20folder/posts.yaml' }, region: { startLine } },
    });
    expect(run?.results).to.deep.equal([
      {
        ruleId: 'LOSES_DATA',
        ruleIndex: ruleIndex('LOSES_DATA'),
        level: 'error',
        message: {
          text: 'The values of posts.title are lost.\nthe policy rejects it\nThey come back only from a backup.\nRename it.\nPATCH /fields/posts/title {"a":1}',
        },
        locations: [{ ...place(7), logicalLocations: [{ fullyQualifiedName: 'posts.title', kind: 'member' }] }],
        partialFingerprints: { 'finding/v1': 'LOSES_DATA posts.title' },
      },
      {
        ruleId: 'REWRITES_TABLE',
        ruleIndex: ruleIndex('REWRITES_TABLE'),
        level: 'error',
        message: {
          text: `${FINDINGS[1]?.message}\nthe policy requires an acknowledgement (--acknowledge 'REWRITES_TABLE:a|b')\n${FINDINGS[1]?.message}\nLater.\nGET /table`,
        },
        locations: [{ ...place(8), logicalLocations: [{ fullyQualifiedName: 'a|b (index by `x`)', kind: 'type' }] }],
        partialFingerprints: { 'finding/v1': 'REWRITES_TABLE a|b (index by `x`)' },
      },
      {
        ruleId: 'UNHEARD_OF',
        level: 'note',
        message: { text: 'Nothing, really.' },
        locations: [place(1)],
        partialFingerprints: { 'finding/v1': 'UNHEARD_OF ' },
      },
    ]);
    const [bare] = (JSON.parse(printed('sarif', NONE, [{ code: 'A', message: 'b' }])) as Log).runs;
    expect(bare?.results).to.deep.equal([
      { ruleId: 'A', level: 'warning', message: { text: 'b' }, partialFingerprints: { 'finding/v1': 'A ' } },
    ]);
  });
});
