import { expect } from 'chai';
import { relationEnds, relationLocation, relationSteps } from '../../../src/schema/normal-form/relation.js';

type Members = Record<string, unknown>;

describe('a relation in either format', () => {
  const ENDS: [Members, [unknown, unknown]][] = [
    [{ many_collection: 'a', many_field: 'b' }, ['a', 'b']],
    [{ collection: 'a', field: 'b' }, ['a', 'b']],
    [{ meta: { many_collection: 'a', many_field: 'b' } }, ['a', 'b']],
    [
      {
        many_collection: 'a',
        many_field: 'b',
        collection: 'x',
        field: 'y',
        meta: { many_collection: 'v', many_field: 'w' },
      },
      ['a', 'b'],
    ],
    [{ collection: 'x', field: 'y', meta: { many_collection: 'v', many_field: 'w' } }, ['x', 'y']],
    [{ meta: null }, [undefined, undefined]],
    [{}, [undefined, undefined]],
  ];
  for (const [input, ends] of ENDS) {
    it(`${JSON.stringify(input)} has the ends ${JSON.stringify(ends)}`, () =>
      expect(relationEnds(input)).to.deep.equal(ends));
  }

  const STEPS: [steps: string[], input: Members, where: string[]][] = [
    [['many_field'], { many_field: 'a' }, ['many_field']],
    [['many_field'], { field: 'a' }, ['field']],
    [['many_field'], { many_field: 'a', field: 'a' }, ['field']],
    [['many_field'], { meta: { many_field: 'a' } }, ['meta', 'many_field']],
    [['one_collection'], { related_collection: 'a' }, ['related_collection']],
    [['one_collection'], { one_collection: 'a', meta: { one_collection: 'a' } }, ['one_collection']],
    [['sort_field'], { sort_field: 'a' }, ['sort_field']],
    [['sort_field'], { meta: { sort_field: 'a' } }, ['meta', 'sort_field']],
    // Members that were not sent are located in the format that was.
    [['sort_field'], { collection: 'a', field: 'b' }, ['meta', 'sort_field']],
    [['sort_field'], { meta: {} }, ['meta', 'sort_field']],
    [['sort_field'], { meta: null }, ['meta', 'sort_field']],
    [['one_collection'], { collection: 'a', field: 'b' }, ['related_collection']],
    [['one_collection'], { many_collection: 'a' }, ['one_collection']],
    [['sort_field'], { many_collection: 'a' }, ['sort_field']],
    [['sort_field'], { collection: 'a', many_field: 'b' }, ['sort_field']],
    [['sort_field'], {}, ['sort_field']],
    [['sort_field', 'x'], { meta: { sort_field: 'a' } }, ['meta', 'sort_field', 'x']],
    // The foreign key has the same location in both formats.
    [['schema', 'on_delete'], { collection: 'a' }, ['schema', 'on_delete']],
    [[], { collection: 'a' }, []],
  ];
  for (const [steps, input, where] of STEPS) {
    it(`${steps.join('.') || 'the whole'} of ${JSON.stringify(input)} is at ${where.join('.') || 'its place'}`, () => {
      expect(relationSteps(steps, input)).to.deep.equal(where);
    });
  }

  it('has locations as far as it was sent', () => {
    const place = relationLocation(['relations', 3], { collection: 'a', schema: {} });
    expect(place.at).to.deep.equal(['relations', 3]);
    expect(place.stepsTo(['schema', 'on_delete'])).to.deep.equal(['schema', 'on_delete']);
    expect(place.stepsTo(['many_collection'])).to.deep.equal(['collection']);
    expect(place.stepsTo(['sort_field'])).to.deep.equal(['meta']);
    expect(relationLocation([], 'no object').stepsTo(['schema'])).to.deep.equal([]);
  });
});
