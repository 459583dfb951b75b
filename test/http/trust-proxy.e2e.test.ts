import { expect } from 'chai';
import { clientOf, json } from '../support/client.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { startService } from '../support/service.js';

const SOCKET = '127.0.0.1';
const FORGED = '192.0.2.1';
const ADDED = '198.51.100.7';

interface ForwardedCase {
  setting: string;
  /** The proxy appends the last address. A client can send the others. */
  header: string;
  address: string;
}

const CASES: readonly ForwardedCase[] = [
  { setting: '', header: FORGED, address: SOCKET },
  { setting: '0', header: FORGED, address: SOCKET },
  { setting: '1', header: `${FORGED}, ${ADDED}`, address: ADDED },
  { setting: '2', header: `${FORGED}, ${ADDED}`, address: FORGED },
  { setting: '20', header: `${FORGED}, ${ADDED}`, address: FORGED },
  { setting: '10.0.0.0/8, ::1', header: FORGED, address: SOCKET },
  { setting: 'loopback', header: `${FORGED}, ${ADDED}`, address: ADDED },
  { setting: '127.0.0.0/8', header: `${FORGED}, ::ffff:${ADDED}`, address: ADDED },
  { setting: '::ffff:127.0.0.0/104', header: `${FORGED}, ${ADDED}`, address: ADDED },
  { setting: '::ffff:127.0.0.1', header: `${FORGED}, ${ADDED}`, address: ADDED },
  { setting: 'loopback', header: `${FORGED}, unknown`, address: SOCKET },
  { setting: 'loopback', header: `${FORGED}, ${ADDED}, 127.0.0.9`, address: ADDED },
];

describe('the address of a client behind proxies', () => {
  let database: TestDatabase;

  before(async () => {
    database = await createDatabase('migrated');
  });
  after(() => database.drop());

  for (const [index, { setting, header, address }] of CASES.entries())
    it(`is ${address} with TRUST_PROXY=${setting} and X-Forwarded-For: ${header}`, async () => {
      const service = await startService({ DATABASE_URL: database.connectionString, TRUST_PROXY: setting });
      try {
        const client = clientOf(service);
        const collection = `from_${index}`;
        const request = json({ collection, schema: {} });
        const { status, text } = await client('/collections', {
          ...request,
          headers: { ...request.headers, 'x-forwarded-for': header },
        });
        expect(status, text).to.equal(200);
        const { json: body } = await client(`/history/events?collection=${collection}`);
        expect((body as { data: { ip: string }[] }).data[0]?.ip).to.equal(address);
      } finally {
        await service.stop();
      }
    });
});
