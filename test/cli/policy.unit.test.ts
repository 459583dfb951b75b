import { expect } from 'chai';
import { UsageError } from '../../src/cli/command.js';
import { INVALID_LOCATION } from '../../src/schema/model/location.js';
import {
  acknowledgeHeader,
  readAcknowledgements,
  withOptionNames,
  policyText,
  selectBlocked,
} from '../../src/cli/planned-changes.js';

describe('policy output of dps', () => {
  it('parses acknowledgements by code and location', () => {
    expect(readAcknowledgements({})).to.deep.equal([]);
    expect(readAcknowledgements({ acknowledge: ['LOSES_DATA:a.b', 'X:', 'Y:a:b, c%2e'] })).to.deep.equal([
      { code: 'LOSES_DATA', place: 'a.b' },
      { code: 'X', place: '' },
      { code: 'Y', place: 'a:b%2C c%2E' },
    ]);
    for (const wrong of ['LOSES_DATA', 'loses:a', ':a', 'A1:a', 'A:a\nb']) {
      expect(() => readAcknowledgements({ acknowledge: [wrong] }), wrong).to.throw(
        UsageError,
        '--acknowledge must be CODE:PLACE, as a plan shows it: LOSES_DATA:posts.title.',
      );
    }
    for (const wrong of ['A:a.b.c', 'A:50%'])
      expect(() => readAcknowledgements({ acknowledge: [wrong] }), wrong).to.throw(
        UsageError,
        `--acknowledge ${wrong}: ${INVALID_LOCATION}.`,
      );
  });

  it('sends acknowledgements in a header, with names of any characters', () => {
    expect(acknowledgeHeader({})).to.deep.equal({});
    expect(acknowledgeHeader({ acknowledge: ['A:ä,b', 'B:50%25'] })).to.deep.equal({
      'X-Acknowledge': 'A:ä%2Cb, B:50%25',
    });
  });

  it('replaces the header in an error by the name of the option', () => {
    expect(withOptionNames('no')).to.equal('no');
    expect(withOptionNames('no', '')).to.equal('no');
    expect(withOptionNames('no', 'fields[0]')).to.equal('fields[0]: no');
    expect(withOptionNames('no', 'X-Acknowledge')).to.equal('--acknowledge: no');
    expect(withOptionNames("It is known (X-Acknowledge: A:posts): x (X-Acknowledge: B:it's%2C %25): y")).to.equal(
      "It is known (--acknowledge A:posts): x (--acknowledge 'B:it'\\''s%2C %25'): y",
    );
    expect(withOptionNames('by X-Acknowledge: or so')).to.equal('by X-Acknowledge: or so');
  });

  it('explains what blocks a change and which option to add', () => {
    const messagesOf = (action: string | undefined, place: { collection?: string; field?: string } = {}) =>
      policyText({ code: 'A', ...place, action });
    expect(messagesOf('refuse')).to.equal('the policy rejects it');
    expect(messagesOf('approve')).to.equal('the policy requires an approved change request');
    for (const action of [undefined, 'off', 'note', 'warn']) expect(messagesOf(action)).to.equal(undefined);
    for (const [place, word] of [
      [{ collection: 'a', field: 'b' }, 'A:a.b'],
      [{ collection: 'a' }, 'A:a'],
      [{ collection: 'a.b', field: 'c' }, 'A:a%2Eb.c'],
      [{ collection: "it's" }, String.raw`'A:it'\''s'`],
      [{ collection: 'a b' }, "'A:a b'"],
    ] as const) {
      expect(messagesOf('acknowledge', place)).to.equal(
        `the policy requires an acknowledgement (--acknowledge ${word})`,
      );
    }
  });

  it('blocks findings that are not, or cannot be, acknowledged', () => {
    const finding = (action: string) => ({ code: 'A', collection: 'a', field: 'b', action });
    const [known, refused, approved, warned] = ['acknowledge', 'refuse', 'approve', 'warn'].map(finding);
    const all = [known, refused, approved, warned].map((each) => each ?? finding(''));
    expect(selectBlocked(all, {})).to.deep.equal([known, refused, approved]);
    expect(selectBlocked(all, { acknowledge: ['A:a.b'] })).to.deep.equal([refused, approved]);
    expect(selectBlocked(all, { acknowledge: ['A:a', 'B:a.b'] })).to.deep.equal([known, refused, approved]);
    expect(selectBlocked(undefined, {})).to.deep.equal([]);
  });
});
