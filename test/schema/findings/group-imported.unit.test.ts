import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { findingOf, groupFindings } from '../../../src/schema/findings/finding.js';
import type { Finding } from '../../../src/schema/findings/model.js';

const omittedRelation = (collection: string, field: string, reason: string): Finding =>
  findingOf({
    code: 'RELATION_LEFT_OUT',
    collection,
    field,
    message: `The relation of "${collection}"."${field}" to "files" was skipped: ${reason}.`,
  });

const messagesOf = (...noticed: Finding[]) => runToEnd(groupFindings(noticed));

describe('findings of an imported file', () => {
  it('are merged by reason, in the place of the first, with all locations', () => {
    const shown = messagesOf(
      omittedRelation('a', 'image', 'the collection does not exist'),
      omittedRelation('b', 'x', '"b" is not in the file'),
      omittedRelation('b', 'image', 'the collection does not exist'),
      omittedRelation('c', 'y', '"c" is not in the file'),
      omittedRelation('c', 'image', 'the collection does not exist'),
    );
    expect(shown.map(({ message }) => message)).to.deep.equal([
      'The relation of "a"."image" to "files" was skipped: the collection does not exist; also applies to b.image, c.image',
      'The relation of "b"."x" to "files" was skipped: "b" is not in the file; also applies to c.y',
    ]);
    expect(shown[0]?.places?.map(({ collection }) => collection)).to.deep.equal(['a', 'b', 'c']);
  });

  it('stay separate if there is only one, or if the policy treats them differently', () => {
    const one = omittedRelation('a', 'image', 'the collection does not exist');
    expect(messagesOf(one)).to.deep.equal([one]);
    const judged = ['a', 'b'].map((name, at) => ({
      ...omittedRelation(name, 'x', 'why'),
      action: at === 0 ? 'note' : 'warn',
    }));
    expect(runToEnd(groupFindings(judged))).to.deep.equal(judged);
  });

  it('name only some of many objects, and list 50', () => {
    const [first] = messagesOf(...Array.from({ length: 80 }, (_, at) => omittedRelation(`t${at}`, 'x', 'why')));
    expect(first?.message).to.match(/; also applies to t1.x, t2.x, t3.x and 76 more$/);
    expect(first?.places).to.have.length(50);
  });

  it('are separate if they concern data', () => {
    const gone = ['a', 'b'].map((collection) =>
      findingOf({ code: 'DATA_NOT_RESTORED', collection, message: `"${collection}" is made empty` }),
    );
    expect(messagesOf(...gone)).to.deep.equal(gone);
  });
});
