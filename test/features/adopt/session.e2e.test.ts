/**
 * A client session with a difficult database: adoption, snapshot, manual changes and repairs, compared with
 * `test/fixtures/adopt-session.txt`.
 */
import { createSession } from '../../support/session.js';
import { testServer } from '../../support/postgres.js';
import { withService } from '../../support/with-service.js';
import { HARD_SCHEMA, UNREPRESENTED } from './hard-schema.js';

/** Messages differ between PostgreSQL releases. */
const RELEASE = 18;

/** Manual changes to managed objects. */
const BY_HAND = `
ALTER TABLE lines RENAME TO positions;
ALTER TABLE counters RENAME COLUMN other TO another;
ALTER TABLE counters ALTER COLUMN serial_small TYPE bigint, ALTER COLUMN line SET NOT NULL, DROP CONSTRAINT second_way;
ALTER TABLE pairs DROP CONSTRAINT both_of_them, ADD COLUMN c text NOT NULL DEFAULT 'x', ADD CHECK (a > 0);
ALTER TABLE no_key ALTER COLUMN b SET DEFAULT 'new', ADD PRIMARY KEY (a);
DROP TABLE to_events;
DROP INDEX events_note;
CREATE INDEX by_kind ON events (kind);
COMMENT ON TABLE pairs IS 'two of a kind';
ALTER TYPE mood ADD VALUE 'angry' BEFORE 'sad';
ALTER DOMAIN positive SET DEFAULT 2;
ALTER SEQUENCE invoice_numbers INCREMENT 7;
CREATE TABLE new_one (id integer PRIMARY KEY, pair integer);
CREATE VIEW seen AS SELECT a FROM pairs;
`;

describe('a session with an adopted database', () => {
  const { client, api } = withService({ settings: { KEEP_DELETED: '0' } });
  const session = createSession('adopt-session.txt', client);
  const { ask } = session;

  before(async function () {
    if ((await testServer()).majorVersion !== RELEASE) this.skip();
  });

  it('lists adopted and rejected objects', async () => {
    await api.sql(HARD_SCHEMA);
    await ask('/schema/drift');
    await ask('/schema/adopt', { body: { tables: ['lines'] } });
    await ask('/schema/adopt', { body: { all: true } });
    await ask('/schema/snapshot');
    await ask('/schema/snapshot?export=csv');
  });

  it('shows manual changes and accepts them', async () => {
    await api.sql(BY_HAND);
    await ask('/schema/drift');
    await ask('/schema/drift/accept?dry_run', { body: {} });
    await ask('/schema/drift/accept', { body: { collections: ['pairs'] } });
    await ask('/schema/drift/accept', { body: {} });
    await ask('/schema/drift');
    await ask('/history/events?limit=200&collection=counters');
  });

  it('lists what no snapshot supports', async () => {
    await api.sql(UNREPRESENTED.replace('CREATE EXTENSION citext;', ''));
    await ask('/schema/adopt?dry_run', { body: { tables: ['noisy'] } });
    await ask('/schema/adopt', { body: { all: true } });
    await ask('/schema/adopt', {
      body: { tables: ['heir', 'extended', 'nowhere', 'pairs', 'service_webhooks', 'seen'] },
    });
  });

  it('matches the recorded transcript', () =>
    session.expectAsBefore([
      [/(?<=snapshot-)\d{8}-\d{6}-\d+-[0-9a-f]{8}/g, '<stamp>'],
      [/(?<="service": ")\d+\.\d+\.\d+/g, '<release>'],
    ]));
});
