import { expect } from 'chai';
import { describeComparison, describeFileChain, describeVerification } from '../../../src/cli/commands/verify.js';
import { describeCheckpoints } from '../../../src/cli/checkpoint-files.js';
import { describeDifference, describeDivergence } from '../../../src/doctor/differences.js';

const HASH = 'ab'.repeat(32);
const HEAD = { position: 7, hash: HASH, occurred_at: '2026-01-02T03:04:05.678Z' };
const lines = (text: string): string[] => text.split('\n');

describe('dps verify', () => {
  const chain = { ok: true, checked: 7, erased: 0, head: HEAD, disallowed: [], unprotected: [], divergences: [] };
  const seen = { position: 9, hash: HASH };
  const actual = { position: 7, hash: null };

  it('reports whether the chain is intact and all projections agree', () => {
    expect(
      lines(describeVerification({ ok: true, chain, projections: { ok: true, position: 7, differences: [] } })),
    ).to.deep.equal([
      `The hash chain is valid: 7 events, head ${HASH}.`,
      'Fold, metadata rows and catalog match at position 7.',
    ]);
    const text = describeVerification({
      ok: false,
      chain: {
        ...chain,
        ok: false,
        broken: { position: 8, reason: 'another hash' },
        disallowed: [{ position: 4, reason: 'the policy requires 1 approvals (LOSES_DATA:a\u202e)' }],
        unprotected: ['The trigger is off.'],
        divergences: [{ seen, found: actual, fork: 5, noticed_at: 'then', acknowledged: null }],
      },
      projections: {
        ok: false,
        position: 7,
        differences: [{ where: 'metadata', collection: 'a', field: 'f', member: 'type', expected: 1, found: null }],
      } as unknown as Parameters<typeof describeVerification>[0]['projections'],
      checkpoints: [],
    });
    expect(lines(text)).to.deep.equal([
      'The hash chain is broken at position 8: another hash. The 7 events before it are valid.',
      'The change at position 4 was not allowed: the policy requires 1 approvals (LOSES_DATA:a\\u{202e}).',
      'The trigger is off.',
      'then: position 9 (abababababab…) was read before and is missing; the log ended at position 7, and differs after ' +
        'position 5; not acknowledged yet',
      '1 difference at position 7:',
      '  metadata a.f type: expected 1, found nothing',
    ]);
    expect(lines(describeVerification({ ok: false, chain, projections: { ok: false, error: 'no' } }))[1]).to.equal(
      'no',
    );
  });

  it('reports when a divergence was acknowledged, and an unacknowledged fork', () => {
    expect(describeDivergence({ seen, found: actual, fork: 7, noticed_at: 'then', acknowledged: 12 })).to.equal(
      'then: position 9 (abababababab…) was read before and is missing; the log ended at position 7; acknowledged by event 12',
    );
    expect(describeDivergence({ seen, found: actual, noticed_at: 'then' })).to.equal(
      'then: position 9 (abababababab…) was read before and is missing; the log ended at position 7',
    );
    const difference = { where: 'catalog', collection: 'a', member: 'table', expected: null, found: [1] };
    expect(describeDifference(difference as Parameters<typeof describeDifference>[0])).to.equal(
      '  catalog a table: expected nothing, found [1]',
    );
  });

  it('reports how many events no longer have personal data, and does not count events after a missing one', () => {
    expect(describeFileChain({ head: HEAD, erased: 1 }, 'The file')).to.equal(
      `The hash chain is valid: 7 events, head ${HASH}. Personal data was erased from 1 event.`,
    );
    const projections = { ok: true, position: 7, differences: [] } as const;
    const [first] = lines(
      describeVerification({
        ok: true,
        chain: { ...chain, erased: 2 },
        projections: { ...projections, differences: [] },
      }),
    );
    expect(first).to.equal(`The hash chain is valid: 7 events, head ${HASH}. Personal data was erased from 2 events.`);
    const broken = { position: 3, reason: 'its personal data is missing' };
    expect(describeFileChain({ head: HEAD, erased: 1, broken }, 'The file')).to.equal(
      'The file is broken at position 3: its personal data is missing. The 2 events before it are valid.',
    );
  });

  it('reports the same result for the log in a file', () => {
    expect(describeFileChain({ head: HEAD, erased: 0 }, 'The file')).to.equal(
      `The hash chain is valid: 7 events, head ${HASH}.`,
    );
    const broken = { position: 8, reason: 'no JSON' };
    expect(describeFileChain({ head: HEAD, erased: 0, broken }, 'The file')).to.equal(
      'The file is broken at position 8: no JSON. The 7 events before it are valid.',
    );
    expect(describeFileChain({ head: { ...HEAD, position: 0 }, erased: 0, broken }, 'The log of x')).to.equal(
      'The log of x is broken at position 8: no JSON.',
    );
  });

  it('reports whether a service has the same log', () => {
    expect(describeComparison({ url: 'u', ok: true, head: 9 })).to.equal(
      'The service at u has the same events; its log ends at position 9.',
    );
    expect(describeComparison({ url: 'u', ok: false, head: 9, position: 3, reason: 'other' })).to.equal(
      'The service at u differs at position 3: other.',
    );
  });

  it('reports which checkpoints match, and that no signature was verified', () => {
    const held = { file: 'c', ok: true, position: 7, time: 'then', signed_by: 'k' };
    const all = [held, { ...held, ok: false, reason: 'another hash' }] as unknown as Parameters<
      typeof describeCheckpoints
    >[0];
    expect(describeCheckpoints(all)).to.deep.equal([
      'Checkpoint c (position 7, then) matches the log: no event up to it has changed; signed by k.',
      'Checkpoint c (position 7, then) does not match the log: another hash.',
    ]);
    const unsigned = [{ ...held, signed_by: null }] as unknown as Parameters<typeof describeCheckpoints>[0];
    expect(describeCheckpoints(unsigned)).to.deep.equal([
      'Checkpoint c (position 7, then) matches the log: no event up to it has changed.',
      'No signature was verified. Pass the public key, which you must obtain separately, with --key.',
    ]);
    const differs = [{ ...held, ok: false, signed_by: null, reason: 'r' }] as unknown as Parameters<
      typeof describeCheckpoints
    >[0];
    expect(describeCheckpoints(differs)).to.have.length(1);
  });
});
