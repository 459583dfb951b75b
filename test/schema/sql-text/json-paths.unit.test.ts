import { expect } from 'chai';
import { jsonPathGrowth } from '../../../src/schema/sql-text/result-size.js';

describe('the result of a JSON path', () => {
  const CASES: [path: string, depth: number, lists: number][] = [
    ['$', 1, 1],
    ['$.a', 1, 1],
    ['$.*', 1, 1],
    ['$.*.*.*', 1, 1],
    ['$.**', 1, 1],
    ['$.**.**', 2, 1],
    ['$.**.**.**', 3, 1],
    ['$.a ? (@.*)', 1, 1],
    ['$.* ? (@.*)', 2, 1],
    ['$.** ? (@.*)', 2, 1],
    ['$.** ? (@.**)', 2, 1],
    ['$.** ? (exists(@.* ? (@.** == 1)))', 3, 1],
    ['$[*]', 1, 1],
    ['$[0,0]', 1, 2],
    ['$[0,0][1,2,3]', 1, 6],
    ['$[]', 1, 1],
    ['$.**[0,0].**', 2, 2],
  ];
  for (const [path, depth, lists] of CASES) {
    it(`${path} is ${depth} deep and ${lists} wide`, () => {
      expect(jsonPathGrowth(path)).to.deep.equal({ depth, lists });
    });
  }
});
