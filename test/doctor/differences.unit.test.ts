import { expect } from 'chai';
import { countDifferences, describeDifference, describeDivergence } from '../../src/doctor/differences.js';
import type { Difference } from '../../src/projector/verify/index.js';

const DIFFERENCE: Difference = { where: 'catalog', collection: 'a', member: 'type', expected: 'text', found: null };

describe('a difference as text', () => {
  it('shows its source, the expected and the actual value', () => {
    expect(describeDifference(DIFFERENCE)).to.equal('  catalog a type: expected "text", found nothing');
    expect(describeDifference({ ...DIFFERENCE, where: 'trash', field: 'b', expected: null, found: 7 })).to.equal(
      '  trash a.b type: expected nothing, found 7',
    );
    expect([0, 1, 2].map((length) => countDifferences(Array.from({ length }, () => DIFFERENCE)))).to.deep.equal([
      '0 differences',
      '1 difference',
      '2 differences',
    ]);
  });

  it('shows the seen position, the end of a diverged log, and the acknowledgement', () => {
    const hash = '0123456789abcdef'.repeat(4);
    const divergence = {
      seen: { position: 16, hash },
      found: { position: 13, hash: null },
      noticed_at: '2026-11-21T08:05:03Z',
    };
    const line =
      '2026-11-21T08:05:03Z: position 16 (0123456789ab…) was read before and is missing; the log ended at position 13';
    expect(describeDivergence(divergence)).to.equal(line);
    expect(describeDivergence({ ...divergence, fork: 13 })).to.equal(line);
    expect(describeDivergence({ ...divergence, fork: 11 })).to.equal(`${line}, and differs after position 11`);
    expect(describeDivergence({ ...divergence, acknowledged: null })).to.equal(`${line}; not acknowledged yet`);
    expect(describeDivergence({ ...divergence, acknowledged: 14 })).to.equal(`${line}; acknowledged by event 14`);
  });
});
