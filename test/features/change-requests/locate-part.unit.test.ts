import { expect } from 'chai';
import {
  prefixLocations,
  createBodyLocator,
  translateLocations,
} from '../../../src/features/change-requests/routes-actions.js';
import { RejectedError } from '../../../src/http/errors.js';

const refusal = (path: string | undefined, headers: string[] = []) =>
  Promise.reject(
    new RejectedError([{ code: 'INVALID_PAYLOAD', message: 'no', ...(path !== undefined && { path }) }], headers),
  );

async function pathOf(work: Promise<unknown>): Promise<string | undefined> {
  const error = await work.catch((thrown: unknown) => thrown);
  return (error as RejectedError).problems[0]?.path;
}

describe('the location of a problem in a part of a body', () => {
  it('is translated to the diff, or to the snapshot that produced it', () => {
    const [diff, snapshot] = [createBodyLocator({}), createBodyLocator({ snapshot: {} })];
    expect(diff({ path: 'collections[0].type' }).path).to.equal('diff.collections[0].type');
    for (const full of ['', 'diff']) expect(diff({ path: full }).path, 'a diff that is not an object').to.equal('diff');
    expect(snapshot({ path: 'collections[0]' }).path).to.equal('snapshot');
    for (const located of [diff, snapshot]) {
      expect(located({ path: 'diff' }).path).to.equal('diff');
      expect(located({})).to.deep.equal({});
    }
  });

  it('is prefixed with its member, except for members of the body itself', async () => {
    for (const [path, full] of [
      ['', 'snapshot'],
      ['[1]', 'snapshot[1]'],
      ['fields[1].type', 'snapshot.fields[1].type'],
      ['snapshot', 'snapshot'],
      ['base', 'base'],
      ['mode', 'mode'],
      ['force', 'force'],
      [undefined, undefined],
    ] as const) {
      expect(await pathOf(prefixLocations('snapshot', refusal(path))), path).to.equal(full);
    }
    expect(await prefixLocations('snapshot', Promise.resolve(1))).to.equal(1);
  });

  it('changes nothing else of a rejection or another error', async () => {
    const moved = (await translateLocations(refusal('a', ['Retry-After', '1']), (problem) => ({
      ...problem,
      path: 'b',
    })).catch((thrown: unknown) => thrown)) as RejectedError;
    expect([moved.problems[0]?.path, moved.headers]).to.deep.equal(['b', ['Retry-After', '1']]);
    const bug = new TypeError('bug');
    expect(
      await translateLocations(Promise.reject(bug), (problem) => problem).catch((thrown: unknown) => thrown),
    ).to.equal(bug);
  });
});
