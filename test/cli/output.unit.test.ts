import { expect } from 'chai';
import { oneLine, table } from '../../src/cli/output.js';

describe('what is printed', () => {
  it('is in columns as wide as their widest cell, without blanks at the end', () => {
    expect(
      table(
        ['a', 'long head', 'c'],
        [
          ['longer', 'x', ''],
          ['', 'y', 'z'],
        ],
      ).split('\n'),
    ).to.deep.equal(['a       long head  c', 'longer  x', '        y          z']);
  });

  it('does nothing to a terminal, whatever things are called', () => {
    expect(oneLine('a\u001b[2J\n\u007f\u009b2Jb ü')).to.equal(String.raw`a\u001b[2J\n\u007f\u009b2Jb ü`);
  });
});
