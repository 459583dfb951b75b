import { expect } from 'chai';
import { renameTarget } from '../../../src/projector/verify/pending-indexes.js';

const rename = (position: number, what: string, to: string) => {
  const [collection = '', field = null] = what.split('.');
  return { position, collection, field, to };
};
const at = (position: number, ...renames: Parameters<typeof renameTarget>[1]): string => {
  const { collection, field } = renameTarget({ collection: 't', field: 'a', position }, renames);
  return `${collection}.${field}`;
};

describe('a field that was renamed', () => {
  it('follows renames of it and its table', () => {
    expect(at(5)).to.equal('t.a');
    expect(at(5, rename(6, 't.a', 'b'), rename(7, 't', 'u'), rename(8, 'u.b', 'c'))).to.equal('u.c');
  });

  it('is unaffected by other and earlier renames', () => {
    expect(at(5, rename(6, 't.b', 'c'), rename(7, 'u.a', 'c'), rename(8, 'u', 'v'))).to.equal('t.a');
    expect(at(5, rename(4, 't.a', 'b'), rename(5, 't', 'u'))).to.equal('t.a');
    // Another field has its former name now.
    expect(at(5, rename(6, 't.a', 'b'), rename(7, 't.a', 'c'))).to.equal('t.b');
  });
});
