import { expect } from 'chai';
import { answeredFinding } from '../../support/answered.js';
import { planMarkdown } from '../../../src/cli/commands/plan.js';

const NO_DIFF = { collections: [], fields: [], relations: [] };

describe('a plan as Markdown', () => {
  it('has a row for each change and finding, with all markup escaped', () => {
    const plan = planMarkdown({
      hash: '',
      diff: {
        collections: [
          { collection: 'new|one', diff: [{ kind: 'N', rhs: {} }] },
          { collection: 'old', diff: [{ kind: 'D', path: [], lhs: {} }] },
        ],
        fields: [
          {
            collection: 'a',
            field: '<b>',
            diff: [
              { kind: 'E', path: ['meta', 'note'], lhs: 1, rhs: 2 },
              { kind: 'E', path: ['type'], lhs: 1, rhs: 2 },
              { kind: 'A', path: ['type'], index: 0, item: { kind: 'N', rhs: 1 } },
            ],
          },
        ],
        relations: [{ collection: 'a', field: 'c', diff: [{ kind: 'N', rhs: {} }] }],
        objects: [{ kind: 'materialized_view', id: 'x|y', diff: [{ kind: 'D', lhs: {} }] }],
      },
      warnings: [answeredFinding({ code: 'LOSES_DATA', collection: 'old', message: 'see @you,  [there](x)' })],
    });
    expect(plan.split('\n')).to.deep.equal([
      '### Schema plan: 5 changes',
      '',
      '| | what | where | members |',
      '| --- | --- | --- | --- |',
      '| new | collection | <code>new&#124;one</code> |  |',
      '| **removed** | collection | <code>old</code> |  |',
      '| changed | field | <code>a.&#60;b&#62;</code> | <code>meta.note</code>, <code>type</code> |',
      '| new | relation | <code>a.c</code> |  |',
      '| **removed** | materialized view | <code>x&#124;y</code> |  |',
      '',
      '#### Findings',
      '',
      '- LOSES&#95;DATA old: see &#64;you, &#91;there&#93;&#40;x&#41;',
    ]);
  });

  it('reports an empty plan, and is cut to the maximum length of a comment', () => {
    expect(planMarkdown({ hash: '', diff: NO_DIFF })).to.equal(
      '### Schema plan\n\nNothing to do: the schema already has this state.',
    );
    const one = planMarkdown({
      hash: '',
      diff: { ...NO_DIFF, fields: [{ collection: 'a', field: 'b', diff: [{ kind: 'N', rhs: {} }] }] },
    });
    expect(one.split('\n')).to.have.lengthOf(5);
    expect(one).to.match(/^### Schema plan: 1 change\n/);
    const collections = Array.from({ length: 2_000 }, (_, index) => ({
      collection: `collection ${1_000 + index}`,
      diff: [{ kind: 'N' as const, rhs: {} }],
    }));
    const cut = planMarkdown({ hash: '', diff: { ...NO_DIFF, collections } });
    const lines = cut.split('\n');
    expect(cut.length).to.be.within(59_900, 60_050);
    // The numbers include those of the head and the 2,000 rows. The last two lines are an empty one and this one.
    expect(lines.at(-1)).to.equal(`and ${4 + 2_000 - (lines.length - 2)} lines more`);
    expect(lines.at(-2)).to.equal('');
    expect(lines.at(-3)).to.match(/^\| new \| collection \| <code>collection \d{4}<\/code> \| {2}\|$/);
  });
});
