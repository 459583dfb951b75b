import { expect } from 'chai';
import { preparedName, preparedNamesOf, requestOf } from '../../../src/projector/online/copy.js';

const ID = '5a8c9b1e-0d7f-4c3b-9a55-2f1f0c9f6f11';
const OTHER = '5a8c9b1e-0d7f-4c3b-9a55-2f1f0c9f6f12';

describe('the name of a prepared object', () => {
  it('identifies the request and differs per object', () => {
    const name = preparedName(ID, 'not null t.a');
    expect(name).to.match(/^dps_online_5a8c9b1e0d7f4c3b9a552f1f0c9f6f11_[0-9a-f]{8}$/);
    expect(requestOf(name)).to.equal(ID);
    expect(requestOf(`${name}_noted`)).to.equal(ID);
    expect(preparedName(ID.toUpperCase(), 'not null t.a')).to.equal(name);
    expect(preparedName(ID, 'not null t.b')).to.not.equal(name);
    expect(Buffer.byteLength(`${name}_noted`)).to.be.at.most(59);
  });

  it('never collides with other names', () => {
    const name = preparedName(ID, 'k');
    const others = ['articles', '', `x${name}`, `${name}x`, `${name}_`, `${name}_toolong`, name.slice(0, -1)];
    expect(others.map(requestOf)).to.deep.equal(others.map(() => null));
  });

  it('is found among those of its request only', () => {
    const isOf = (id: string, name: string) => new RegExp(preparedNamesOf(id)).test(name);
    const name = preparedName(ID, 'k');
    expect([isOf(ID, name), isOf(ID, `${name}_lost`), isOf(ID.toUpperCase(), name)]).to.deep.equal([true, true, true]);
    expect([isOf(OTHER, name), isOf(ID, `x${name}`), isOf(ID, `${name}x`)]).to.deep.equal([false, false, false]);
  });
});
