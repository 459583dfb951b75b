import { expect } from 'chai';
import { createPaint, describeBatch, describeEvent } from '../../src/cli/commands/history.js';

describe('the timeline text', () => {
  const batch = {
    batch: '',
    occurred_at: '2026-11-21T08:05:03.123Z',
    actor: { id: '', name: 'Eve\u001B[2J' },
    command: 'create-collection',
    reason: 'first\nsecond \u0007',
    first_position: 9,
    last_position: 12,
    summary: 'created collection books',
  };

  it('escapes characters that would move the cursor', () => {
    expect(describeBatch(batch, createPaint(false))).to.equal(
      '9-12       2026-11-21 08:05:03  Eve\\u001b[2J  created collection books\n           why: first\\nsecond \\u0007',
    );
  });

  it('has colours only if they are enabled', () => {
    const clean = { ...batch, actor: { id: '', name: 'Eve' } };
    expect(describeBatch(clean, createPaint(false))).not.to.contain('\u001B');
    expect(describeBatch(clean, createPaint(true))).to.contain('\u001B[36mEve\u001B[0m');
  });

  it('shows one position, and no reason if there is none', () => {
    const one = { ...batch, actor: { id: '', name: 'Eve' }, last_position: 9, reason: null };
    expect(describeBatch(one, createPaint(false))).to.equal(
      '9          2026-11-21 08:05:03  Eve  created collection books',
    );
  });
});

describe('an event as text', () => {
  const event = {
    position: 9,
    id: 'e1',
    batch: 'b1',
    type: 'field.updated',
    version: 1,
    data: {},
    collection: 'books',
    field: 'title',
    actor: { id: 'u1', name: 'Eve' },
    command: 'update-field',
    reason: null,
    request_id: null,
    ip: null,
    user_agent: null,
    salt: null,
    commitment: 'abc',
    occurred_at: '2026-11-21T08:05:03.123Z',
    hash: 'abc',
    previous_hash: 'ab',
  };
  const none = { collections: [], fields: [], relations: [] };

  it('shows all its members', () => {
    const shown = (more: object) => describeEvent({ ...event, ...more }, none, createPaint(false)).split('\n');
    expect(shown({})).to.deep.equal([
      'event 9  field.updated books.title',
      'when     2026-11-21 08:05:03',
      'who      Eve (u1)',
      'from     unknown',
      'command  update-field, request unknown, batch b1',
      'why      (none)',
      'hash     abc',
      '',
    ]);
    const all = shown({ ip: '192.0.2.1', user_agent: 'curl\n', request_id: 'r1', reason: 'be\ncause' });
    expect(all.slice(3, 6)).to.deep.equal([
      String.raw`from     192.0.2.1, curl\n`,
      'command  update-field, request r1, batch b1',
      String.raw`why      be\ncause`,
    ]);
    expect(shown({ ip: '192.0.2.1' })[3]).to.equal('from     192.0.2.1');
    const [collection] = shown({ field: null });
    const [subject] = shown({ collection: null, field: null, subject: { kind: 'log', id: '4' } });
    const [both] = shown({ subject: { kind: 'index', id: 'i' } });
    const [nothing] = shown({ collection: null, field: null });
    expect([collection, subject, both, nothing]).to.deep.equal([
      'event 9  field.updated books',
      'event 9  field.updated log 4',
      'event 9  field.updated books.title, index i',
      'event 9  field.updated',
    ]);
  });

  it('shows its change, with colours if they are enabled', () => {
    const change: Parameters<typeof describeEvent>[1] = {
      collections: [
        { collection: 'new', diff: [{ kind: 'N', rhs: {} }] },
        { collection: 'old\n', diff: [{ kind: 'D', path: [], lhs: {} }] },
      ],
      fields: [
        {
          collection: 'books',
          field: 'title',
          diff: [
            { kind: 'E', path: ['meta', 'note'], lhs: 'a', rhs: null },
            { kind: 'A', path: ['meta', 'options'], index: 2, item: { kind: 'N', rhs: { x: 1 } } },
          ],
        },
      ],
      relations: [{ collection: 'books', field: 'author', diff: [{ kind: 'N', rhs: {} }] }],
    };
    const changes = (colours: boolean) => describeEvent(event, change, createPaint(colours)).split('\n').slice(8);
    expect(changes(false)).to.deep.equal([
      '+ collection new',
      String.raw`- collection old\n`,
      '~ field books.title: meta.note  "a" → null',
      '~ field books.title: meta.options.2  nothing → {"x":1}',
      '+ relation books.author',
    ]);
    const [green, red] = [32, 31].map((code) => (text: string) => `\u001B[${code}m${text}\u001B[0m`);
    expect(changes(true).slice(0, 3)).to.deep.equal([
      green?.('+ collection new'),
      red?.(String.raw`- collection old\n`),
      `~ field books.title: meta.note  ${red?.('"a"')} → ${green?.('null')}`,
    ]);
    const [, when = '', user = ''] = describeEvent(event, none, createPaint(true)).split('\n');
    expect([when, user]).to.deep.equal([
      'when     \u001B[2m2026-11-21 08:05:03\u001B[0m',
      'who      \u001B[36mEve\u001B[0m (u1)',
    ]);
  });
});
