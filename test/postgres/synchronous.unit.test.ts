import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import type pg from 'pg';
import { watchReplication } from '../../src/postgres/transaction.js';

it('a COMMIT is uncertain only if PostgreSQL stopped waiting for its standby', () => {
  const client = new EventEmitter();
  const watch = watchReplication(client as unknown as pg.Client);
  client.emit('notice', { routine: 'ExecuteTruncateGuts' });
  client.emit('notice', {});
  expect(watch.broken()).to.equal(false);
  client.emit('notice', { routine: 'SyncRepWaitForLSN' });
  client.emit('notice', { routine: 'ExecuteTruncateGuts' });
  expect(watch.broken()).to.equal(true);
  watch.end();
  expect(client.listenerCount('notice')).to.equal(0);
});
