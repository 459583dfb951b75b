import { expect } from 'chai';
import { type ShownChange, createProgressPrinter, describeEnd } from '../../src/cli/follow-change.js';
import { answeredChange, answeredProblem, answeredStep } from '../support/answered.js';

type Step = ShownChange['steps'][number];

const step = (summary: string, state: Step['state'], more: Partial<Step> = {}): Step =>
  answeredStep(summary, { state, ...more });

const request = answeredChange({
  state: 'preparing',
  steps: [
    step('copy the values', 'done', { bytes: 300 }),
    step('build the index', 'running', { bytes: 100, done: 0.5 }),
    step('tidy up', 'waiting', { bytes: 100 }),
  ],
});

const CASES: [what: string, change: Partial<ShownChange>, percent: number, said: string][] = [
  ['the running step, and the progress by size', {}, 70, '2 of 3: build the index'],
  ['the requests that precede it', { state: 'queued', steps: [], queued_behind: ['a', 'b'] }, 0, 'waiting for a, b'],
  ['its turn when no request precedes it', { state: 'queued', steps: [] }, 0, 'waiting for its turn'],
  [
    'the last transaction when the steps are done',
    { steps: [step('x', 'done')] },
    99,
    'applying it in one short transaction',
  ],
  ['the last step when it is applied', { state: 'applied' }, 100, '2 of 3: build the index'],
  [
    'cleaning',
    { cleaning: true, steps: [step('x', 'done', { bytes: 0 }), step('y', 'waiting')] },
    50,
    'removing prepared objects',
  ],
  [
    'the sessions that block it',
    {
      waiting_for: [
        { pid: 7, application_name: 'report', age_seconds: 3, collection: 'a' },
        { pid: 8, application_name: '', age_seconds: 3, collection: 'a' },
        { pid: null, application_name: '', age_seconds: null, collection: 'a' },
      ],
    },
    70,
    '2 of 3: build the index (waiting for "report", process 7, an unnamed application, process 8, a prepared transaction)',
  ],
];

describe('waiting for a change request prints', () => {
  for (const [what, change, percent, expected] of CASES) {
    it(what, () => {
      const [noted, written]: string[][] = [[], []];
      const silent = { print: () => undefined, read: () => Promise.resolve('') };
      const note = (line: string) => void noted?.push(line);
      const other = createProgressPrinter({ terminal: { ...silent, note } });
      // One line per change.
      other({ ...request, ...change });
      other({ ...request, ...change });
      expect(noted).to.deep.equal([`${percent} %: ${expected}`]);
      createProgressPrinter({ terminal: { ...silent, note, rewrite: (line) => void written?.push(line) } })({
        ...request,
        ...change,
      });
      const [, filled = '', left = ''] = /^\[(#*)(\.*)\] /.exec(written?.[0] ?? '') ?? [];
      expect(written?.[0]?.slice(filled.length + left.length + 3)).to.equal(`${percent} %  ${expected}`);
      const width = filled.length + left.length;
      expect(filled.length).to.equal(Math.floor((percent === 99 ? 0.99 : percent / 100) * width));
    });
  }
});

describe('the end of a change request prints', () => {
  it('its position in the log', () => {
    expect(describeEnd({ ...request, state: 'applied', result: { position: 7, batch: 'b0' } })).to.equal(
      'Applied: position 7, batch b0.',
    );
  });

  it('that prepared objects were removed, and the errors', () => {
    const errors = ['One row is in the way.', 'So is another.'].map(answeredProblem);
    expect(describeEnd({ ...request, state: 'failed', errors }).split('\n')).to.deep.equal([
      'Change request 5d3f failed. Its prepared objects were removed.',
      '  One row is in the way.',
      '  So is another.',
    ]);
    const withdrawn: ShownChange = { ...request, state: 'withdrawn' };
    expect(describeEnd(withdrawn)).to.equal('Change request 5d3f was withdrawn. Its prepared objects were removed.');
  });
});
