/** Findings of real databases during adoption and changes must be sensible. */
import { expect } from 'chai';
import { createApi, type Api } from '../../support/api.js';
import { type Ran, dps } from '../../support/dps.js';
import { testServer } from '../../support/postgres.js';
import { type TestService, startService } from '../../support/service.js';
import { runSql } from '../../features/adopt/round-trip.js';
import { chinook, imageBoard, pagila, realSchemasAreThere } from '../../features/adopt/real-schemas.js';

interface Shown {
  code: string;
  level: string;
  collection?: string;
  field?: string;
  message: string;
  places?: { collection: string; field?: string }[];
  safer?: { request?: object };
}

interface Snapshot {
  collections: { collection: string; schema: { extras?: object | null } | null }[];
  fields: { collection: string; field: string; type: string; schema: Record<string, unknown> | null }[];
  relations: object[];
}

const describeFindings = (findings: readonly Shown[]): string =>
  findings.map(({ level, code, message }) => `${level} ${code} ${message}`).join('\n');
const countFindings = (findings: readonly Shown[]): string[] =>
  findings.map(({ level, code, places = [''] }) => `${level} ${code} ${places.length}`).sort();

describe('findings of real databases', () => {
  const services: TestService[] = [];
  const apis: Api[] = [];

  before(function () {
    if (!realSchemasAreThere()) this.skip();
  });
  afterEach(async () => {
    for (const api of apis.splice(0)) await api.stop();
    for (const service of services.splice(0)) await service.stop();
  });

  const serve = async () => {
    const service = await startService();
    services.push(service);
    const api = createApi(service);
    apis.push(api);
    return { service, api };
  };

  interface Adopted {
    api: Api;
    adopted: Ran;
    snapshot: Snapshot;
    /** The findings of an edited snapshot. */
    edit: (change: (snapshot: Snapshot) => void) => Promise<Shown[]>;
  }

  /** Adopts the database with the command. */
  async function adopt(sql: string): Promise<Adopted> {
    const { service, api } = await serve();
    await runSql({ connectionString: service.databaseUrl } as never, sql);
    const adopted = await dps(['adopt', '--all'], { DATABASE_URL: service.databaseUrl });
    expect(adopted.code, adopted.err).to.equal(0);
    const snapshot = await api.ok<Snapshot>('GET', '/schema/snapshot');
    return {
      api,
      adopted,
      snapshot,
      async edit(change) {
        const edited = structuredClone(snapshot);
        change(edited);
        return (await api.ok<{ warnings?: Shown[] }>('POST', '/schema/diff', edited)).warnings ?? [];
      },
    };
  }

  /** On an empty service, and on the original. */
  async function findingsOfSnapshot({ api, snapshot }: Adopted): Promise<Shown[]> {
    const itself = await api.ok<object>('POST', '/schema/diff', snapshot);
    expect(itself).to.have.all.keys('hash', 'diff');
    const { api: empty } = await serve();
    return (await empty.ok<{ warnings?: Shown[] }>('POST', '/schema/diff', snapshot)).warnings ?? [];
  }

  const field = ({ fields }: Snapshot, collection: string, name: string) => {
    const document = fields.find((each) => each.collection === collection && each.field === name);
    if (document?.schema == null) throw new Error(`there is no column ${collection}.${name}`);
    return document as typeof document & { schema: Record<string, unknown> };
  };

  it('Chinook has each finding about conventions once, and the findings of a change', async () => {
    const findings = await adopt(chinook());
    const [full, { edit }] = [await findingsOfSnapshot(findings), findings];
    expect(countFindings(full), describeFindings(full)).to.deep.equal([
      'note KEY_MAY_OVERFLOW 10',
      'note SERIAL_COLUMN 10',
      'note TIME_WITHOUT_ZONE 3',
    ]);
    expect(await edit((snapshot) => (field(snapshot, 'track', 'name').schema['max_length'] = 250))).to.deep.equal([]);
    const unique = await edit((snapshot) => (field(snapshot, 'track', 'name').schema['is_unique'] = true));
    expect(countFindings(unique), describeFindings(unique)).to.deep.equal([
      'warn LONG_LOCK 1',
      'warn MAY_FAIL 1',
      'warn UNIQUE_OVER_ROWS 1',
    ]);
    // Nothing was analyzed, which is reported once.
    expect(describeFindings(unique)).to.contain('the number of rows is not known').and.not.to.contain('counted');
    const required = await edit(({ fields }) =>
      fields.push({ collection: 'track', field: 'isrc', type: 'string', schema: { is_nullable: false } }),
    );
    expect(countFindings(required), describeFindings(required)).to.deep.equal([
      'warn MAY_FAIL 1',
      'warn REQUIRED_FIELD 1',
    ]);
    // A foreign key that is recreated with its column's type cannot be prepared.
    const larger = await edit((snapshot) => {
      const key = field(snapshot, 'track', 'album_id');
      key.type = 'bigInteger';
      delete key.schema['data_type'];
    });
    expect(larger.map(({ code }) => code)).to.include.members(['REWRITES_TABLE', 'FOREIGN_KEY_UNDER_LOCK']);
    for (const { message, safer } of larger) {
      expect(message).not.to.contain('with "online"');
      expect(safer?.request, message).to.equal(undefined);
    }
  });

  it('the image board has eight findings for 66 tables, and names a view of many tables once', async () => {
    const imageBoardFindings = await adopt(imageBoard());
    const full = await findingsOfSnapshot(imageBoardFindings);
    expect(full.map(({ level, code }) => `${level} ${code}`).sort(), describeFindings(full)).to.deep.equal([
      'note CHAR_TYPE',
      'note CREATES_EXTENSION',
      'note FOREIGN_KEY_WITHOUT_INDEX',
      'note INDEX_OF_MANY_COLUMNS',
      'note KEY_MAY_OVERFLOW',
      'note SERIAL_COLUMN',
      'note TIME_WITHOUT_ZONE',
      'warn NO_PRIMARY_KEY',
    ]);
    expect(imageBoardFindings.adopted.out.match(/view "user_actions"/g)).to.have.length(1);
    const source = await imageBoardFindings.edit(
      (snapshot) => (field(snapshot, 'users', 'name').schema['is_indexed'] = true),
    );
    expect(describeFindings(source)).to.contain('too long for an index');
    const larger = await imageBoardFindings.edit((snapshot) => {
      const key = field(snapshot, 'posts', 'id');
      key.type = 'bigInteger';
      delete key.schema['data_type'];
    });
    // Two views need the column, which is reported as one obstacle.
    const needed = larger.filter(({ code }) => code === 'NEEDED_ELSEWHERE');
    expect(needed, describeFindings(larger)).to.have.length(1);
    expect(needed[0]?.message).to.contain('view post_events and view user_actions need it');
  });

  it('Pagila has findings for the columns of a parent instead of its partitions', async function () {
    if ((await testServer()).majorVersion < 18) this.skip();
    const pagilaFindings = await adopt(pagila());
    const full = await findingsOfSnapshot(pagilaFindings);
    expect(countFindings(full), describeFindings(full)).to.deep.equal([
      'note CREATES_TYPE 1',
      'note FOREIGN_KEY_WITHOUT_INDEX 12',
      'note KEY_MAY_OVERFLOW 13',
      'note SERIAL_COLUMN 13',
    ]);
    const keys = full.find(({ code }) => code === 'FOREIGN_KEY_WITHOUT_INDEX');
    expect(keys?.collection).to.match(/^payment_p/);
    // Columns of partitions follow their parent in the database.
    expect(keys?.safer?.request).to.equal(undefined);
    expect(pagilaFindings.adopted.out.match(/trigger "last_updated"/g)).to.have.length(1);
    const gone = await pagilaFindings.edit((snapshot) => {
      snapshot.fields = snapshot.fields.filter((each) => each.collection !== 'film' || each.field !== 'title');
    });
    expect(countFindings(gone), describeFindings(gone)).to.deep.equal([
      'danger NEEDED_ELSEWHERE 1',
      'warn LOSES_DATA 1',
    ]);
  });
});
