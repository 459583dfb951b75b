import { expect } from 'chai';
import { z } from 'zod';
import { RejectedError } from '../../../src/http/errors.js';
import {
  count,
  flag,
  metaMembers,
  nameList,
  pageLimit,
  readParams,
  readQuery,
} from '../../../src/http/request/query.js';

const shape = z.strictObject({
  force: flag,
  offset: count.optional(),
  meta: metaMembers.optional(),
  names: nameList.optional(),
  fields: z.string().optional(),
  limit: pageLimit,
});

const read = (query: string) => readQuery(`/path${query}`, shape);

function problemsOf(query: string) {
  try {
    read(query);
  } catch (error) {
    if (error instanceof RejectedError) return error.problems;
    throw error;
  }
  throw new Error(`${query} was accepted`);
}

/** The single error of a parameter. */
const queryProblem = (path: string, message: string) => [{ code: 'INVALID_QUERY', message, path }];

describe('readQuery', () => {
  it('reads a boolean as true when it is present and empty, true or 1', () => {
    for (const query of ['?force', '?force=', '?force=true', '?force=1']) expect(read(query).force, query).equal(true);
  });

  it('reads a boolean as false when it is absent, false or 0', () => {
    for (const query of ['', '?', '?force=false', '?force=0']) expect(read(query).force, query).equal(false);
  });

  it('rejects any other boolean and names the parameter', () => {
    for (const query of ['?force=yes', '?force=TRUE', '?force=2']) {
      expect(problemsOf(query)).deep.equal([
        { code: 'INVALID_QUERY', message: '"force" must be true or false (1 or 0; empty means true).', path: 'force' },
      ]);
    }
  });

  it('reads non-negative integers and rejects everything else', () => {
    expect(read('?offset=0').offset).equal(0);
    expect(read('?offset=12').offset).equal(12);
    for (const value of ['', '-1', '1.5', 'abc', '1e3', '99999999999999999', '%20']) {
      expect(problemsOf(`?offset=${value}`), value).deep.equal(
        queryProblem('offset', '"offset" must be a non-negative integer.'),
      );
    }
    expect(read('?offset=999999999999999').offset).equal(999_999_999_999_999);
  });

  it('reads a page size up to 1000', () => {
    expect(read('').limit).equal(100);
    for (const limit of [0, 1_000]) expect(read(`?limit=${limit}`).limit).equal(limit);
    expect(problemsOf('?limit=1001')).deep.equal(queryProblem('limit', '"limit" must be an integer from 0 to 1000.'));
  });

  it('decodes white space and plus signs like forms, and treats a bare name as empty', () => {
    expect(read('?names=a+b,c%2Bd&force')).deep.include({ names: ['a b', 'c+d'], force: true });
    expect(read('?&names=a=b&').names).deep.equal(['a=b']);
  });

  it('joins repeated list parameters', () => {
    expect(read('?fields=a&fields=b,c').fields).equal('a,b,c');
  });

  it('reads meta as one member, both, or *', () => {
    expect(read('?meta=total_count').meta).deep.equal(['total_count']);
    expect(read('?meta=total_count,filter_count').meta).deep.equal(['total_count', 'filter_count']);
    expect(read('?meta=*').meta).deep.equal(['total_count', 'filter_count']);
    expect(read('?meta=filter_count,+total_count').meta).deep.equal(['total_count', 'filter_count']);
    for (const value of ['', 'count', 'total_count,x', 'x,total_count', '*,*']) {
      expect(problemsOf(`?meta=${value}`), value).deep.equal(
        queryProblem('meta', '"meta" must be total_count, filter_count, both separated by a comma, or *.'),
      );
    }
  });

  it('splits names at commas and respects double quotes', () => {
    expect(read('?names=a,b+c,d%2Fe').names).deep.equal(['a', 'b c', 'd/e']);
    expect(read('?names=%22a,b%22,c').names).deep.equal(['a,b', 'c']);
    expect(read('?names=%22a%22%22b%22').names).deep.equal(['a"b']);
    expect(read('?names=__proto__').names).deep.equal(['__proto__']);
    for (const value of ['', ',', 'a,', ',a', '%22a', 'a%22b', '%22a%22b', '%22%22']) {
      expect(problemsOf(`?names=${value}`), value).deep.equal(
        queryProblem(
          'names',
          '"names" must be a comma-separated list of names. Enclose a name that contains a comma in double quotes.',
        ),
      );
    }
  });

  it('rejects unknown parameters and names them, whatever their names are', () => {
    expect(problemsOf('?=1')).deep.equal(queryProblem('', 'Query parameter "" is not supported here.'));
    expect(problemsOf('?x=1&__proto__=2&constructor')).deep.equal(
      ['x', '__proto__', 'constructor'].flatMap((name) =>
        queryProblem(name, `Query parameter "${name}" is not supported here.`),
      ),
    );
  });

  it('rejects repeated parameters and malformed percent-encoding', () => {
    expect(problemsOf('?force&force=0')).deep.equal(queryProblem('force', '"force" occurs more than once.'));
    const malformed = 'The query contains an invalid percent-encoding.';
    expect(problemsOf('?offset=%zz')).deep.equal(queryProblem('%zz', malformed));
    expect(problemsOf('?%f=1')).deep.equal(queryProblem('%f', malformed));
    expect(problemsOf('?=%zz')).deep.equal(queryProblem('%zz', malformed));
  });

  it('rejects text that PostgreSQL cannot store, in queries and paths', () => {
    const fault = (name: string) =>
      queryProblem(name, `${JSON.stringify(name)} must not contain the character NUL, which PostgreSQL cannot store.`);
    expect(problemsOf('?names=a%00')).deep.equal(fault('names'));
    expect(problemsOf('?a%00=x')).deep.equal(fault('a\0'));
    expect(() => readParams({ collection: 'a', field: 'b\0' }))
      .throw(RejectedError)
      .property('problems')
      .deep.equal(fault('field'));
    const params = { collection: 'a', field: 'ü' };
    expect(readParams(params)).equal(params);
  });
});
