import { expect } from 'chai';
import { createAttachment } from '../../src/kernel/attachment.js';

describe('an attachment', () => {
  it('is found by its object and not by a copy', () => {
    const known = createAttachment<object, string>();
    const object = { a: 1 };
    expect(known.get(object)).to.equal(undefined);
    known.set(object, 'first');
    expect(known.get(object)).to.equal('first');
    known.set(object, 'second');
    expect(known.get(object)).to.equal('second');
    expect(known.get({ ...object })).to.equal(undefined);
    expect(known.get(structuredClone(object))).to.equal(undefined);
  });

  it('adds no visible key to the object', () => {
    const known = createAttachment<object, string>();
    const object = { a: 1 };
    known.set(object, 'known');
    expect(Reflect.ownKeys(object)).to.deep.equal(['a']);
    expect(JSON.stringify(object)).to.equal('{"a":1}');
    expect(object).to.deep.equal({ a: 1 });
  });

  it('is separate for each purpose', () => {
    const [one, other] = [createAttachment<object, string>(), createAttachment<object, string>()];
    const list = [1, 2];
    one.set(list, 'one');
    expect(other.get(list)).to.equal(undefined);
    other.set(list, 'other');
    expect(one.get(list)).to.equal('one');
    expect(list).to.deep.equal([1, 2]);
  });
});
