import { expect } from 'chai';
import { yamlToJson } from '../../../src/http/body/index.js';
import { RejectedError } from '../../../src/http/errors.js';

describe('YAML bodies', () => {
  const converting = {
    disconnected: new AbortController().signal,
    worker: () => Promise.reject(new Error('a small document needs no worker')),
  };
  const refusalOf = (text: string) =>
    yamlToJson(Buffer.from(text), converting).then(
      () => undefined,
      (error: unknown) => (error instanceof RejectedError ? error.problems[0] : undefined),
    );

  it('are rejected above the limit with advice that also fits an exported snapshot', async () => {
    const ten = (of: string): string => `[${Array.from({ length: 10 }, () => of).join(', ')}]`;
    const levels = ['b', 'c', 'd', 'e'].map((name, index) => `${name}: &${name} ${ten(`*${'abcd'[index]}`)}`);
    const problem = await refusalOf([`a: &a ${ten('1')}`, ...levels].join('\n'));
    expect(problem?.code).to.equal('CONTENT_TOO_LARGE');
    expect(problem?.message).to.contain('Export the snapshot as JSON (GET /schema/snapshot, or dps snapshot)');
    expect(problem?.message).to.contain('in parts with mode=merge');
  });
});
