import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { type Finding, findingOf, together } from '../../../src/schema/findings/index.js';

const left = (collection: string, field: string, reason: string): Finding =>
  findingOf({
    code: 'RELATION_LEFT_OUT',
    collection,
    field,
    message: `The relation of "${collection}"."${field}" to "files" was left out: ${reason}.`,
  });

const told = (...noticed: Finding[]) => runToEnd(together(noticed));

describe('findings of an imported file', () => {
  it('are merged by reason, in the place of the first, with all locations', () => {
    const shown = told(
      left('a', 'image', 'there is no such collection'),
      left('b', 'x', '"b" is not in the file'),
      left('b', 'image', 'there is no such collection'),
      left('c', 'y', '"c" is not in the file'),
      left('c', 'image', 'there is no such collection'),
    );
    expect(shown.map(({ message }) => message)).to.deep.equal([
      'The relation of "a"."image" to "files" was left out: there is no such collection; the same of b.image, c.image',
      'The relation of "b"."x" to "files" was left out: "b" is not in the file; the same of c.y',
    ]);
    expect(shown[0]?.places?.map(({ collection }) => collection)).to.deep.equal(['a', 'b', 'c']);
  });

  it('stay separate if there is one, or if the policy treats them differently', () => {
    const one = left('a', 'image', 'there is no such collection');
    expect(told(one)).to.deep.equal([one]);
    const judged = ['a', 'b'].map((name, at) => ({ ...left(name, 'x', 'why'), action: at === 0 ? 'note' : 'warn' }));
    expect(runToEnd(together(judged))).to.deep.equal(judged);
  });

  it('name some of many and list 50', () => {
    const [first] = told(...Array.from({ length: 80 }, (_, at) => left(`t${at}`, 'x', 'why')));
    expect(first?.message).to.match(/; the same of t1.x, t2.x, t3.x and 76 more$/);
    expect(first?.places).to.have.length(50);
  });

  it('are separate if they concern data', () => {
    const gone = ['a', 'b'].map((collection) =>
      findingOf({ code: 'DATA_NOT_RESTORED', collection, message: `"${collection}" is made empty` }),
    );
    expect(told(...gone)).to.deep.equal(gone);
  });
});
