import { expect } from 'chai';
import fc from 'fast-check';
import { copyJson, jsonEqual } from '../../../src/kernel/json.js';
import { applyPatch, patchBetween } from '../../../src/schema/fold/rename-events.js';
import { limitRuns } from '../../support/runs.js';

/** Documents that events patch: their members are fixed, and the values are arbitrary. */
const inner = fc.jsonValue({ maxDepth: 4 });
const document = fc.record({
  name: inner,
  list: fc.array(fc.string()),
  meta: fc.record({ note: inner, options: inner }),
  schema: fc.option(fc.record({ comment: inner })),
});

describe('patches', () => {
  it('transform one document into another without changing either', () => {
    fc.assert(
      fc.property(document, document, (before, after) => {
        const kept = copyJson(before);
        const patch = patchBetween(before, after);
        const stored = JSON.parse(JSON.stringify(patch)) as typeof patch;
        const reached = applyPatch(before, stored);
        expect(jsonEqual(reached, JSON.parse(JSON.stringify(after)))).to.equal(true);
        expect(jsonEqual(before, kept), 'the document was changed').to.equal(true);
        expect(jsonEqual(stored, JSON.parse(JSON.stringify(patch))), 'the patch was changed').to.equal(true);
      }),
      limitRuns(1000),
    );
  });

  it('remove any members, including hostile names', () => {
    const before = { name: JSON.parse('{"__proto__": false}') as object, meta: { note: {} } };
    const after = { name: {}, meta: { note: 0 } };
    expect(jsonEqual(applyPatch(before, patchBetween(before, after)), after)).to.equal(true);
  });

  it('replace a whole inner value if a step would change a prototype', () => {
    const hostile = (value: number) => ({ meta: { options: JSON.parse(`{"__proto__": {"x": ${value}}}`) as object } });
    const patch = patchBetween(hostile(1), hostile(2));
    expect(patch.map(({ op, path }) => `${op} ${path}`)).to.deep.equal(['replace /meta/options']);
    const reached = applyPatch(hostile(1), patch);
    expect(JSON.stringify(reached)).to.equal('{"meta":{"options":{"__proto__":{"x":2}}}}');
    expect(({} as Record<string, unknown>)['x']).to.equal(undefined);
  });

  it('start at the document', () => {
    const document = { meta: { note: 'a' }, eta: { note: 'a' } };
    const { eta } = applyPatch(document, [{ op: 'replace', path: 'meta/note', value: 'b' }]);
    expect(eta).to.deep.equal({ note: 'a' });
    expect(applyPatch(document, [{ op: 'replace', path: '/meta/note', value: 'b' }])).to.deep.equal({
      ...document,
      meta: { note: 'b' },
    });
  });
});
