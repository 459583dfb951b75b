import { mock } from 'node:test';
import { expect } from 'chai';
import type pg from 'pg';
import { keepAlive } from '../../src/pipeline/keep-alive.js';

/** Milliseconds between two signs of life. */
const SIGN_OF_LIFE = 1_500;

describe('a transaction that is kept alive', () => {
  const sent: string[] = [];
  const client = {
    readyForQuery: true,
    query: (text: string) => {
      sent.push(text);
      return sent.length === 1 ? Promise.reject(new Error('gone')) : Promise.resolve();
    },
  };
  const after = (milliseconds: number): string[] => {
    mock.timers.tick(milliseconds);
    return sent.splice(0);
  };

  beforeEach(() => mock.timers.enable({ apis: ['setInterval'] }));
  afterEach(() => mock.timers.reset());

  it('sends keep-alive messages between begin and end while nothing else runs', () => {
    const attendance = keepAlive(client as unknown as pg.ClientBase, performance.now() + 60_000);
    expect(after(3 * SIGN_OF_LIFE), 'before it has begun').to.deep.equal([]);
    attendance.began({ pid: 1, since: null });
    expect(after(SIGN_OF_LIFE - 1)).to.deep.equal([]);
    expect(after(1)).to.deep.equal(['']);
    expect(after(2 * SIGN_OF_LIFE)).to.deep.equal(['', '']);
    client.readyForQuery = false;
    expect(after(2 * SIGN_OF_LIFE), 'under way').to.deep.equal([]);
    client.readyForQuery = true;
    attendance.end();
    expect(after(2 * SIGN_OF_LIFE), 'ended').to.deep.equal([]);
  });
});
