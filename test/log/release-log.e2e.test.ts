/**
 * The log of each release, as that release wrote it. This release must read, fold and restore it with the same
 * results. A failure here would affect every user with such a log.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { replayInto } from '../../src/cli/connections/projections.js';
import { runToEnd } from '../../src/kernel/resumable.js';
import { sha256 } from '../../src/kernel/sha256.js';
import { checkExportedLog } from '../../src/log/exported-log.js';
import { gatherDocuments } from '../../src/log/documents.js';
import { readNdjsonPages } from '../../src/log/ndjson.js';
import type { EventRecord } from '../../src/log/read.js';
import { readRelease } from '../../src/release.js';
import { createPlanReplay } from '../../src/schema/change-requests/replay-plans.js';
import { evolve } from '../../src/schema/fold/evolve.js';
import { readEvent } from '../../src/schema/fold/upcasting.js';
import { initialState } from '../../src/schema/model/state.js';
import { snapshotHash, snapshotOf } from '../../src/schema/snapshot/snapshot.js';
import { clientOf, json } from '../support/client.js';
import { dps } from '../support/dps.js';
import { declaredVersions, neverUsed, payloadShapes } from '../support/payload-members.js';
import { type TestDatabase, createDatabase, testServer } from '../support/postgres.js';
import { type ReleaseLog, fileOf, parseLog, readReleaseLog, releasesWithLogs } from '../support/release-log.js';
import { type TestService, startService } from '../support/service.js';

const sha = (text: string): string => createHash('sha256').update(text).digest('hex');

/** JSON without white space, with sorted members at every depth. */
function sortedJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, each]) => `${JSON.stringify(name)}:${sortedJson(each)}`).join(',')}}`;
}

/** The log needs `NULLS NOT DISTINCT`, virtual columns, and names of NOT NULL constraints. */
const NEWEST = 18;

it('the log of a release is in the repository', () => {
  expect(releasesWithLogs()).to.include('0.1.0');
});

/** The schemas of the recorded log. */
const SCHEMAS = { DB_SCHEMAS: 'public,billing' };

for (const release of releasesWithLogs()) {
  describe(`the log of ${release}`, () => {
    const file = fileURLToPath(fileOf(release, 'ndjson'));
    let messages: ReleaseLog;
    let text: string;
    let events: EventRecord[];

    before(async () => {
      messages = readReleaseLog(release);
      text = await readFile(file, 'utf8');
      events = parseLog(text);
    });

    it('has an intact chain with the recorded end', async () => {
      const lines = createInterface({ input: createReadStream(file) });
      const { ok, head, erased } = await checkExportedLog(lines, { sha256, planOf: createPlanReplay() });
      expect({ ok, erased }).to.deep.equal({ ok: true, erased: events.filter(({ salt }) => salt === null).length });
      expect(head).to.include(messages.head);
    });

    it('has every event type and version of the release', () => {
      expect([...new Set(events.map(({ type, version }) => `${type} ${version}`))]).to.have.members(messages.declared);
      expect(declaredVersions()).to.include.members(messages.declared);
    });

    it('has payloads of exactly the shapes that this release reads', () => {
      // A changed shape is a new version of the event, with an upcaster.
      expect(payloadShapes()).to.include(messages.shapes);
      expect(Object.keys(messages.shapes)).to.deep.equal(messages.declared);
    });

    it('has the hashes and commitments of the rule that docs/history.md describes', () => {
      // This repeats the rule without code of the service, so that a change to both the rule and the log is noticed.
      let previous = '0'.repeat(64);
      for (const { hash, previous_hash, salt, actor, ip, reason, user_agent, ...event } of events) {
        expect(previous_hash).to.equal(previous);
        expect(hash, `position ${event.position}`).to.equal(sha(previous + sortedJson({ ...event, actor: actor.id })));
        const personal = sortedJson({ ip, name: actor.name, reason, user_agent });
        if (salt !== null) expect(event.commitment, `position ${event.position}`).to.equal(sha(salt + personal));
        else expect([ip, actor.name, reason, user_agent]).to.deep.equal([null, null, null, null]);
        previous = hash;
      }
      const named = events.flatMap(({ type, data }) =>
        type === 'log.erased' ? (data as { positions: [number, number][] }).positions : [],
      );
      const erased = events.filter(({ salt }) => salt === null).map(({ position }) => [position, position]);
      expect(erased).to.deep.equal(named);
      expect(erased).not.to.deep.equal([]);
    });

    if (release === readRelease()) {
      // `npm run release:log -- --force` rewrites it until the release is published.
      it('has every type, version, member and choice of the current release', () => {
        expect(neverUsed(events)).to.deep.equal([]);
        expect(messages.declared).to.deep.equal(declaredVersions());
      });
    }

    it('contains difficult texts and all origin members', () => {
      for (const hard of ['幸せ', '🎉', `it's`, '\\\\', String.raw`\"`]) expect(text).to.contain(hard);
      for (const member of ['reason', 'context', 'subject', 'request_id', 'ip', 'user_agent'] as const) {
        const held = events.filter((event) => (event[member] ?? null) !== null);
        expect(held, member).not.to.deep.equal([]);
      }
      expect(events.some(({ context }) => context !== undefined && 'traceparent' in context)).to.equal(true);
    });

    it("folds to the release's schemas at every position", () => {
      let state = initialState();
      const snapshots = new Map(messages.snapshots.map(({ at, snapshot }) => [at, snapshot]));
      for (const [index, event] of events.entries()) {
        state = evolve(state, readEvent(event));
        expect(runToEnd(snapshotHash(state, release)), `position ${event.position}`).to.equal(messages.hashes[index]);
        const snapshot = snapshots.get(event.position);
        if (snapshot === undefined) continue;
        expect(JSON.stringify(runToEnd(snapshotOf(state, release)))).to.equal(JSON.stringify(snapshot));
        snapshots.delete(event.position);
      }
      expect(messages.hashes).to.have.length(events.length);
      expect(messages.snapshots.at(-1)?.at).to.equal(events.length);
      expect([...snapshots.keys()]).to.deep.equal([]);
    });

    it('can be replayed event by event with all tables', async function () {
      if ((await testServer()).majorVersion < NEWEST) this.skip();
      const database = await createDatabase();
      const documents = gatherDocuments();
      try {
        const { head, verification } = await replayInto({
          connectionString: database.connectionString,
          schema: 'public',
          schemas: ['public', 'billing'],
          serviceSchema: 'service',
          pages: readNdjsonPages(createReadStream(file), documents.add),
          documents: documents.take,
          tables: 'every-event',
        });
        expect(verification.differences).to.deep.equal([]);
        expect(head).to.include(messages.head);
      } finally {
        await database.drop();
      }
    });

    describe('after a restore', () => {
      let database: TestDatabase;
      let service: TestService | undefined;

      before(async () => {
        database = await createDatabase();
        const settings = { ...SCHEMAS, DATABASE_URL: database.connectionString };
        const { code, out, err } = await dps(['restore', '--file', file, '--json'], settings);
        expect(code, out + err).to.equal(0);
        expect(JSON.parse(out)).to.deep.include({ ok: true, ...messages.head, differences: [] });
        service = await startService(settings);
      });

      after(async () => {
        await service?.stop();
        await database.drop();
      });

      const get = async (path: string): Promise<{ text: string; json: unknown }> => {
        if (service === undefined) throw new Error('nothing was restored');
        const reply = await clientOf(service)(path);
        expect(reply.status, reply.text).to.equal(200);
        return reply;
      };

      it('keeps every event unchanged, and log, rows and catalog agree', async () => {
        const exported = (await get('/history/export')).text;
        expect(exported.slice(0, text.length)).to.equal(text);
        // The log has accounts that the database does not have: the start recorded that, and its admin.
        for (const line of exported.slice(text.length).trim().split('\n'))
          expect(JSON.parse(line)).to.have.property('command', 'first-start');
        expect((await get('/history/verify')).json).to.have.nested.property('data.ok', true);
        const { json } = await get('/projections/verify');
        expect(json, JSON.stringify(json)).to.have.nested.property('data.ok', true);
        const { out, code } = await dps(['verify'], { ...SCHEMAS, DATABASE_URL: database.connectionString });
        expect(code, out).to.equal(0);
      });

      it('returns the responses of the release', async () => {
        expect(Object.keys(messages.answers)).not.to.deep.equal([]);
        for (const [path, answer] of Object.entries(messages.answers)) {
          expect((await get(path)).json, path).to.deep.equal(answer);
        }
        for (const { at, snapshot } of messages.snapshots) {
          const expected = { ...snapshot, service: readRelease() };
          expect((await get(`/history/snapshot?at=${at}`)).json).to.deep.equal(expected);
        }
      });

      it('appends new events that the projections match', async () => {
        if (service === undefined) throw new Error('nothing was restored');
        const body = { meta: { note: 'by a later release' } };
        const { status, text: answer } = await clientOf(service)('/collections/articles', json(body, 'PATCH'));
        expect(status, answer).to.equal(200);
        expect((await get('/projections/verify')).json).to.have.nested.property('data.ok', true);
      });
    });
  });
}
