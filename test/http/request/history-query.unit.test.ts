import { expect } from 'chai';
import { RejectedError } from '../../../src/http/errors.js';
import { moment, pageSize, requireInLog } from '../../../src/http/request/query.js';

const messagesOf = (shape: typeof moment | typeof pageSize, text: string) =>
  shape.safeParse(text).error?.issues.map(({ message }) => message);

describe('history parameters', () => {
  it('accept a position, a time with its zone, a day, or now', () => {
    const time = (text: string) => ({ kind: 'time', time: new Date(text) });
    for (const [text, expected] of [
      ['now', { kind: 'now' }],
      ['0', { kind: 'position', position: 0 }],
      ['999999999999999', { kind: 'position', position: 999_999_999_999_999 }],
      ['2026-11-21', time('2026-11-21T00:00:00Z')],
      ['2026-11-21T08:05Z', time('2026-11-21T08:05:00Z')],
      ['2026-11-21t08:05:03.123z', time('2026-11-21T08:05:03.123Z')],
      ['2026-11-21T08:05:03+02:00', time('2026-11-21T06:05:03Z')],
      ['2026-11-21T08:05:03 02:00', time('2026-11-21T06:05:03Z')],
      ['0001-01-01', time('0001-01-01T00:00:00Z')],
      ['9999-12-31T23:59:59.999Z', time('9999-12-31T23:59:59.999Z')],
      ['2024-02-29', time('2024-02-29T00:00:00Z')],
    ] as const) {
      expect(moment.safeParse(text), text).deep.equal({ success: true, data: expected });
    }
    for (const text of [
      '',
      'Now',
      '-1',
      '1234567890123456',
      '2026-02-29',
      '2026-02-30T00:00Z',
      '2026-13-01',
      '2026-11-21T08:05:03',
      '2026-11-21T25:00Z',
      '2026-11-21 08:05Z',
      '0000-12-31',
      '0001-01-01T00:00+00:01',
      '9999-12-31T23:59-00:01',
    ]) {
      expect(messagesOf(moment, text), text).deep.equal([
        'must be a position, an ISO 8601 time with its time zone (2026-11-21T08:05:03Z), a day, or now; a time from the year 1 to 9999, in UTC.',
      ]);
    }
  });

  it('accept a page size from 1 to 1000', () => {
    expect(pageSize.parse(undefined)).equal(100);
    for (const size of [1, 1_000]) expect(pageSize.parse(String(size))).equal(size);
    for (const text of ['0', '1001', '', '-1', '1e3', '10000']) {
      expect(messagesOf(pageSize, text), text).deep.equal(['must be an integer from 1 to 1000.']);
    }
  });

  it('accept a cursor with a hash, and report another log', async () => {
    const requests: unknown[] = [];
    const history = (answer: boolean) => ({
      holds: async (place: { position: number; hash: string }) => {
        requests.push(place);
        return answer;
      },
    });
    await requireInLog({ position: 3 }, history(false));
    await requireInLog({ position: 4, hash: 'abcdef01' }, history(true));
    const refusal = await requireInLog({ position: 5, hash: 'abcdef02' }, history(false)).catch(
      (error: unknown) => error,
    );
    expect(refusal).instanceOf(RejectedError);
    expect((refusal as RejectedError).problems).deep.equal([
      {
        code: 'DIVERGED',
        message: 'Event 5 with this hash does not exist: the log is not the one that you read before. Read it again.',
        details: { position: 5, hash: 'abcdef02' },
      },
    ]);
    expect(requests).deep.equal([
      { position: 4, hash: 'abcdef01' },
      { position: 5, hash: 'abcdef02' },
    ]);
  });
});
