import { expect } from 'chai';
import { createStartPoint } from '../../../src/log/fold.js';
import { createTimeTravel } from '../../../src/reads/history/time-travel.js';
import type { StoreListener } from '../../../src/reads/state-store.js';
import { createStoredFolds } from '../../../src/reads/stored-folds.js';
import { ACKNOWLEDGED, append } from '../../support/append.js';
import { silent } from '../../support/instance.js';
import { withPool } from '../../support/with-pool.js';

describe('cached past states', () => {
  const { database, pool } = withPool();

  const appended = async (): Promise<string[]> => {
    const events = Array.from({ length: 5 }, () => ACKNOWLEDGED);
    return (await append(database.connectionString, events)).map(({ hash }) => hash);
  };

  it('are folded once, and dropped when the log is replaced', async () => {
    const first = await appended();
    let messagesOf: StoreListener = () => undefined;
    const subscribe = (listener: StoreListener) => {
      messagesOf = listener;
      return () => true;
    };
    const folds = createStoredFolds({ pool: pool(), logger: silent, secret: 'secret', readOnly: () => true });
    const travel = createTimeTravel({ pool: pool(), store: { point: createStartPoint, subscribe }, folds });
    const [one, same] = [await travel.at(3), await travel.at(3)];
    expect(one).to.equal(same);
    expect(one.head.hash).to.equal(first[2]);

    await pool().query('ALTER TABLE service.service_events DISABLE TRIGGER ALL; DELETE FROM service.service_events');
    const second = await appended();
    expect(second[2]).not.to.equal(first[2]);
    messagesOf(createStartPoint(), false);
    expect(await travel.at(3), 'a state that only follows').to.equal(one);
    messagesOf(createStartPoint(), true);
    expect((await travel.at(3)).head.hash).to.equal(second[2]);
    expect((await travel.at(4)).head.hash).to.equal(second[3]);
  });
});
