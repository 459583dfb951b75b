import { expect } from 'chai';
import { createPaint, describeBatch } from '../../src/cli/history-text.js';

describe('the timeline', () => {
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

  it('shows what would move the cursor instead of doing it', () => {
    expect(describeBatch(batch, createPaint(false))).to.equal(
      '9-12       2026-11-21 08:05:03  Eve\\u001b[2J  created collection books\n           why: first\\nsecond \\u0007',
    );
  });

  it('is coloured only when it may be', () => {
    const clean = { ...batch, actor: { id: '', name: 'Eve' } };
    expect(describeBatch(clean, createPaint(false))).not.to.contain('\u001B');
    expect(describeBatch(clean, createPaint(true))).to.contain('\u001B[36mEve\u001B[0m');
  });
});
