import { expect } from 'chai';
import { afterCursor, filterOf, order, subject, subjectFilter, type } from '../../../src/http/history.js';
import type { HttpDeps } from '../../../src/http/deps.js';

const MESSAGES = (shape: typeof subject | typeof order | typeof type, text: string) =>
  shape.safeParse(text).error?.issues.map(({ message }) => message);

describe('the filter of the log', () => {
  it('continues where a page ended, within the original filter', () => {
    expect(afterCursor({ collection: 'a', after: 5 }, 'asc', 9)).to.deep.equal({ collection: 'a', after: 9 });
    expect(afterCursor({ after: 9, before: 20 }, 'asc', 5)).to.deep.equal({ after: 9, before: 20 });
    expect(afterCursor({}, 'asc', undefined)).to.deep.equal({ after: 0 });
    expect(afterCursor({ collection: 'a', before: 5 }, 'desc', 9)).to.deep.equal({ collection: 'a', before: 5 });
    expect(afterCursor({ after: 2, before: 9 }, 'desc', 5)).to.deep.equal({ after: 2, before: 5 });
    expect(afterCursor({ before: 9 }, 'desc', undefined)).to.deep.equal({ before: 9 });
    expect(afterCursor({}, 'desc', 5)).to.deep.equal({ before: 5 });
  });

  it('selects a subject by kind, or by kind and id', () => {
    for (const text of ['log', 'log:', 'log:4', 'x:a:b']) expect(MESSAGES(subject, text)).to.equal(undefined);
    for (const text of ['', ':4']) {
      expect(MESSAGES(subject, text)).to.deep.equal([
        'must be the kind of a subject (log), or a kind and an id (log:42).',
      ]);
    }
    expect(subjectFilter(undefined)).to.deep.equal({ subjectKind: undefined });
    expect(subjectFilter('log')).to.deep.equal({ subjectKind: 'log' });
    expect(subjectFilter('index:a:b')).to.deep.equal({ subjectKind: 'index', subjectId: 'a:b' });
    expect(subjectFilter('log:')).to.deep.equal({ subjectKind: 'log', subjectId: '' });
  });

  it('accepts only known orders and event types', () => {
    for (const text of ['asc', 'desc']) expect(MESSAGES(order, text)).to.equal(undefined);
    expect(MESSAGES(order, 'up')).to.deep.equal(['must be asc or desc.']);
    expect(MESSAGES(type, 'field.created')).to.equal(undefined);
    expect(MESSAGES(type, 'field.seen')?.[0]).to.match(/^must be one of .*\bfield\.created, .*[^,]\.$/);
  });

  it('includes events at both bounds, positions and times', async () => {
    const requests: string[] = [];
    const history = {
      positionBefore: async (time: Date) => {
        requests.push(time.toISOString());
        return 7;
      },
    } as unknown as HttpDeps['history'];
    const at = (position: number) => ({ kind: 'position', position }) as const;
    expect(await filterOf(history, {})).to.deep.equal({ subjectKind: undefined });
    expect(await filterOf(history, { collection: 'a', subject: 'log:1', since: at(3), until: at(5) })).to.deep.equal({
      collection: 'a',
      subjectKind: 'log',
      subjectId: '1',
      after: 2,
      before: 6,
      namesAt: 5,
    });
    expect(await filterOf(history, { until: { kind: 'now' } })).to.deep.equal({ subjectKind: undefined });
    expect(await filterOf(history, { since: { kind: 'now' } })).to.deep.equal({
      subjectKind: undefined,
      after: Number.MAX_SAFE_INTEGER,
    });
    const time = { kind: 'time', time: new Date('2026-11-21T00:00:00Z') } as const;
    expect(await filterOf(history, { since: time, until: time })).to.deep.equal({
      subjectKind: undefined,
      after: 7,
      before: 8,
      namesAt: 7,
    });
    expect(requests).to.deep.equal(['2026-11-21T00:00:00.000Z', '2026-11-21T00:00:00.001Z']);
  });
});
