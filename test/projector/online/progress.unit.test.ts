import { expect } from 'chai';
import { observeStep } from '../../../src/projector/online/index.js';

const HOLDER = { pid: 5, transaction: '3/4', application: 'x', age: 1, table: 't', maintenance: false };

/** The progress for these rows of `pg_stat_progress_create_index` and these blockers. */
async function messagesOf(building: object[], holders: object[] = []): Promise<unknown> {
  const requests: [string, unknown[]][] = [];
  const db = {
    query: async (text: string, values: unknown[]) => {
      requests.push([/pg_stat_progress_create_index/.test(text) ? 'build' : 'holders', values]);
      return Promise.resolve({ rows: /pg_stat_progress_create_index/.test(text) ? building : holders });
    },
  };
  const progress = await observeStep(db as unknown as Parameters<typeof observeStep>[0], 17, 't');
  expect(requests).to.deep.equal([
    ['build', [17]],
    ['holders', [17, 't']],
  ]);
  return progress;
}

const at = (phase: string, blocks: [string, string], tuples: [string, string] = ['0', '0']) => ({
  phase,
  blocks_done: blocks[0],
  blocks_total: blocks[1],
  tuples_done: tuples[0],
  tuples_total: tuples[1],
});

/** Each phase at its start, middle and end. */
const PHASES: [phase: string, from: number, half: number, to: number][] = [
  ['initializing', 0, 0, 0],
  ['waiting for writers before build', 0, 0, 0],
  ['building index: scanning table', 0, 0.175, 0.35],
  ['building index: sorting live tuples', 0.35, 0.4, 0.45],
  ['building index: loading tuples in tree', 0.45, 0.525, 0.6],
  ['building index', 0, 0.3, 0.6],
  ['waiting for writers before validation', 0.6, 0.6, 0.6],
  ['index validation: scanning index', 0.6, 0.65, 0.7],
  ['index validation: sorting tuples', 0.7, 0.725, 0.75],
  ['index validation: scanning table', 0.75, 0.875, 1],
  ['waiting for old snapshots', 1, 1, 1],
];

describe('the progress of an index build', () => {
  for (const [phase, ...parts] of PHASES) {
    it(phase, async () => {
      for (const [index, done] of ['0', '4', '8'].entries()) {
        const expected = { phase, waiting_for: [] };
        const byBlocks = (await messagesOf([at(phase, [done, '8'], ['1', '1'])])) as { done: number };
        expect(byBlocks).to.deep.include(expected);
        expect(byBlocks.done).to.be.closeTo(parts[index] ?? NaN, 1e-9);
        const byTuples = (await messagesOf([at(phase, ['9', '0'], [done, '8'])])) as { done: number };
        expect(byTuples.done).to.be.closeTo(parts[index] ?? NaN, 1e-9);
      }
    });
  }

  it('stays between 0 and 1 for any counts', async () => {
    const phase = 'building index: sorting live tuples';
    expect(await messagesOf([at(phase, ['0', '0'])])).to.deep.equal({ done: 0.35, phase, waiting_for: [] });
    expect(await messagesOf([at('building index', ['9', '8'])])).to.deep.include({ done: 0.6 });
    expect(await messagesOf([at('building index', ['1', '1'])])).to.deep.include({ done: 0.6 });
  });

  it('is unknown in an unknown phase', async () => {
    expect(await messagesOf([at('dreaming', ['1', '2'])])).to.deep.equal({
      done: null,
      phase: 'dreaming',
      waiting_for: [],
    });
  });

  it('names blocking sessions, even without a build', async () => {
    expect(await messagesOf([])).to.deep.equal({});
    expect(await messagesOf([], [HOLDER])).to.deep.equal({ waiting_for: [HOLDER] });
    expect(await messagesOf([at('initializing', ['0', '0'])], [HOLDER])).to.deep.equal({
      done: 0,
      phase: 'initializing',
      waiting_for: [HOLDER],
    });
  });
});
