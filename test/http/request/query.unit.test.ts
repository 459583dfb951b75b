import { expect } from 'chai';
import { z } from 'zod';
import { Refused } from '../../../src/http/errors.js';
import { count, flag, metaMembers, nameList, readQuery } from '../../../src/http/request/query.js';

const shape = z.strictObject({
  force: flag,
  offset: count.optional(),
  meta: metaMembers.optional(),
  names: nameList.optional(),
});

const read = (query: string) => readQuery(`/path${query}`, shape);

function problemsOf(query: string) {
  try {
    read(query);
  } catch (error) {
    if (error instanceof Refused) return error.problems;
    throw error;
  }
  throw new Error(`${query} was accepted`);
}

describe('readQuery', () => {
  it('reads a boolean as true when it is present and empty, true or 1', () => {
    for (const query of ['?force', '?force=', '?force=true', '?force=1']) expect(read(query).force, query).equal(true);
  });

  it('reads a boolean as false when it is absent, false or 0', () => {
    for (const query of ['', '?', '?force=false', '?force=0']) expect(read(query).force, query).equal(false);
  });

  it('refuses any other boolean, naming the parameter', () => {
    for (const query of ['?force=yes', '?force=TRUE', '?force=2']) {
      expect(problemsOf(query)).deep.equal([
        { code: 'INVALID_QUERY', message: '"force" must be true or false (empty or 1, or 0).', path: 'force' },
      ]);
    }
  });

  it('reads non-negative integers and refuses everything else', () => {
    expect(read('?offset=0').offset).equal(0);
    expect(read('?offset=12').offset).equal(12);
    for (const value of ['', '-1', '1.5', 'abc', '1e3', '99999999999999999', '%20']) {
      expect(problemsOf(`?offset=${value}`)[0]?.path).equal('offset');
    }
  });

  it('reads meta as one member, both, or *', () => {
    expect(read('?meta=total_count').meta).deep.equal(['total_count']);
    expect(read('?meta=total_count,filter_count').meta).deep.equal(['total_count', 'filter_count']);
    expect(read('?meta=*').meta).deep.equal(['total_count', 'filter_count']);
    for (const value of ['', 'count', 'total_count,x', '*,*']) expect(problemsOf(`?meta=${value}`)).lengthOf(1);
  });

  it('splits names at commas, with double quotes around those that hold one', () => {
    expect(read('?names=a,b+c,d%2Fe').names).deep.equal(['a', 'b c', 'd/e']);
    expect(read('?names=%22a,b%22,c').names).deep.equal(['a,b', 'c']);
    expect(read('?names=%22a%22%22b%22').names).deep.equal(['a"b']);
    expect(read('?names=__proto__').names).deep.equal(['__proto__']);
    for (const value of ['', ',', 'a,', ',a', '%22a', 'a%22b', '%22a%22b', '%22%22']) {
      expect(problemsOf(`?names=${value}`), value).lengthOf(1);
    }
  });

  it('refuses unknown parameters, each by its name, whatever it is called', () => {
    expect(problemsOf('?x=1&__proto__=2&constructor').map(({ path }) => path)).deep.equal([
      'x',
      '__proto__',
      'constructor',
    ]);
  });

  it('refuses a parameter that is given twice, and malformed percent-encoding', () => {
    expect(problemsOf('?force&force=0')[0]?.message).equal('"force" is given more than once.');
    expect(problemsOf('?offset=%zz')[0]?.message).equal('The query holds a malformed percent-encoding.');
  });
});
