import { expect } from 'chai';
import { readShape } from '../../../src/http/body/shape.js';
import {
  changeApplication,
  changeApproval,
  changeComment,
  changeRejection,
  changeRevert,
  changeUpdate,
  newChange,
} from '../../../src/features/change-requests/routes-bodies.js';
import { RejectedError } from '../../../src/http/errors.js';

type Shape = Parameters<typeof readShape>[0];

/** The errors of a body by location; empty if it is accepted. */
function errorsOf(shape: Shape, body: unknown): string[] {
  try {
    expect(readShape(shape, body)).to.deep.equal(body);
    return [];
  } catch (error) {
    if (!(error instanceof RejectedError)) throw error;
    expect(error.problems.map(({ code }) => code)).to.deep.equal(error.problems.map(() => 'INVALID_PAYLOAD'));
    return error.problems.map(({ path, message }) => `${path}: ${message}`);
  }
}

const PLAN = '0123456789abcdef'.repeat(4);

describe('bodies of change requests', () => {
  it('are accepted with all their members', () => {
    const how = { online: true, purge: false, acknowledge: [{ code: 'LOSES_DATA', place: 'a.b' }] };
    const asked = { diff: {}, snapshot: [], base: 42, mode: 'merge', force: true };
    const taken: [shape: Shape, body: object][] = [
      [newChange, { title: 'x' }],
      [newChange, { title: 'x', reason: null, ...asked, ...how }],
      [newChange, { title: 'x', mode: 'mirror' }],
      [changeUpdate, {}],
      [changeUpdate, { title: 'x', reason: 'y', ...asked, ...how }],
      [changeComment, { comment: 'two\nlines' }],
      [changeComment, { comment: 'x', place: { part: 'relations', collection: 'a', field: 'b' } }],
      [changeComment, { comment: 'x', place: { part: 'objects', kind: 'view', id: 'a' } }],
      [changeApproval, { plan: PLAN }],
      [changeApproval, { plan: PLAN, comment: 'x' }],
      [changeRevert, {}],
      [changeRevert, { title: 'x', reason: 'y', online: true, resolve: [] }],
      [changeApplication, {}],
      [changeApplication, { at: '2026-11-22T03:00:00+01:00' }],
      [changeRejection, {}],
      [changeRejection, { comment: 'x' }],
    ];
    const longest = Array.from({ length: 1_000 }, () => ({ code: 'x'.repeat(100), place: 'x'.repeat(500) }));
    taken.push([changeUpdate, { acknowledge: longest }]);
    for (const [shape, body] of taken) expect(errorsOf(shape, body), JSON.stringify(body)).to.deep.equal([]);
  });

  it('are rejected at each invalid location', () => {
    const refused: [shape: Shape, body: unknown, places: string[]][] = [
      [newChange, {}, ['title: is required.']],
      [newChange, [], [': must be an object.']],
      [
        newChange,
        { title: 'x', a: 1, b: 2 },
        ['a', 'b'].map(
          (member) =>
            `${member}: unknown member "${member}"; known members: title, reason, diff, snapshot, policy, base, mode, ` +
            'force, online, purge, acknowledge.',
        ),
      ],
      [newChange, { title: 'x', mode: 'both' }, ['mode: must be mirror or merge.']],
      [changeUpdate, { force: 1 }, ['force: must be true or false.']],
      [changeUpdate, { acknowledge: [{ code: 'A' }] }, ['acknowledge[0].place: is required.']],
      [
        changeUpdate,
        { acknowledge: [{ code: 'A', place: '', at: 1 }] },
        ['acknowledge[0].at: unknown member "at"; known members: code, place.'],
      ],
      [
        changeUpdate,
        { acknowledge: [{ code: '', place: 'x'.repeat(501) }] },
        [
          'acknowledge[0].code: must have at least 1 character.',
          'acknowledge[0].place: must have at most 500 characters.',
        ],
      ],
      [
        changeUpdate,
        { acknowledge: [{ code: 'x'.repeat(101), place: '' }] },
        ['acknowledge[0].code: must have at most 100 characters.'],
      ],
      [
        changeUpdate,
        { acknowledge: Array.from({ length: 1_001 }, () => ({ code: 'A', place: '' })) },
        ['acknowledge: must have at most 1000 items.'],
      ],
      [changeComment, {}, ['comment: is required.']],
      [changeApproval, {}, ['plan: is required.']],
      [changeApplication, { at: '2026-11-22' }, ['at: must be a time with its time zone: 2026-11-22T03:00:00Z.']],
      [
        changeApplication,
        { at: '2026-11-22T03:00:00' },
        ['at: must be a time with its time zone: 2026-11-22T03:00:00Z.'],
      ],
      [
        changeRevert,
        { diff: {} },
        ['diff: unknown member "diff"; known members: title, reason, online, purge, resolve.'],
      ],
      [changeRejection, { plan: PLAN }, ['plan: unknown member "plan"; known members: comment.']],
    ];
    for (const plan of [PLAN.slice(1), `${PLAN}0`, PLAN.toUpperCase()]) {
      refused.push([changeApproval, { plan }, ['plan: must be the hash of a plan.']]);
    }
    for (const [shape, body, places] of refused)
      expect(errorsOf(shape, body), JSON.stringify(body)).to.deep.equal(places);
  });

  it('contain readable texts of limited length', () => {
    const texts: [member: string, shape: Shape, most: number, rest: object][] = [
      ['title', newChange, 200, {}],
      ['reason', changeUpdate, 1_000, {}],
      ['comment', changeComment, 10_000, {}],
    ];
    for (const [member, shape, most] of texts) {
      const of = (text: string) => errorsOf(shape, { [member]: text });
      expect(of('😀'.repeat(most))).to.deep.equal([]);
      for (const long of ['x'.repeat(most + 1), '😀'.repeat(most + 1)]) {
        expect(of(long)).to.deep.equal([`${member}: must have at most ${most} characters.`]);
      }
      for (const empty of ['', ' \n']) expect(of(empty)).to.deep.equal([`${member}: must not be empty.`]);
      for (const control of ['a\u001b[1m', 'a\r', 'a\u0085']) {
        expect(of(control)).to.deep.equal([`${member}: must not contain control characters.`]);
      }
      expect(of('a\0')).to.deep.equal([
        `${member}: must not contain the character NUL, which PostgreSQL cannot store.`,
      ]);
      for (const lines of ['a\nb', 'a\tb']) {
        expect(of(lines)).to.deep.equal(member === 'title' ? ['title: must be a single line.'] : []);
      }
    }
  });
});
