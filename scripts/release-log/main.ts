/**
 * `npm run release:log`: writes test/fixtures/log-<release>.ndjson, a log with everything that this release can write,
 * and next to it the results of this release. Tests of every later release read, fold and restore that log. It is
 * written once before the release; `--force` overwrites it.
 */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { readEvent } from '../../src/schema/fold/upcasting.js';
import { evolve } from '../../src/schema/fold/evolve.js';
import { initialState } from '../../src/schema/model/state.js';
import { snapshotHash, snapshotOf } from '../../src/schema/snapshot/snapshot.js';
import { runToEnd } from '../../src/kernel/resumable.js';
import { readRelease } from '../../src/release.js';
import { createApi } from '../../test/support/api.js';
import { signIn } from '../../test/support/client.js';
import { declaredVersions, neverUsed, payloadShapes } from '../../test/support/payload-members.js';
import { settingsOf, startOpenIdProvider } from '../../test/support/openid-provider.js';
import { stopTestServer } from '../../test/support/postgres.js';
import { fileOf, parseLog, type ReleaseLog } from '../../test/support/release-log.js';
import { startService } from '../../test/support/service.js';
import { writeHistory } from './history.js';

/** Bytes of both files together. */
const LARGEST = 550_000;

/** Positions whose complete schema is stored. The others have only its hash. */
const EARLY = 2;

const { values } = parseArgs({ options: { force: { type: 'boolean', default: false } } });
const release = readRelease();

const exitWith = (why: string): never => {
  process.stderr.write(`${why}\n`);
  process.exit(1);
};

if (existsSync(fileOf(release, 'ndjson')) && !values.force) {
  exitWith(
    `The log of ${release} is checked in already. Once ${release} is released it stays as it is: it stands for the logs ` +
      'that people have, and one written by newer code would prove nothing. A release that writes events otherwise adds ' +
      'a version of them, and a log of its own. Before the release: --force.',
  );
}

const { text, answers } = await writeLog();
await stopTestServer();
const events = parseLog(text);
const missing = neverUsed(events);
if (missing.length > 0) exitWith(`The log lacks what this release can write:\n${missing.join('\n')}`);
// One member per line, because indented snapshots would be mostly blanks.
const json = `{\n${Object.entries(sayOf())
  .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
  .join(',\n')}\n}\n`;
const size = Buffer.byteLength(text) + Buffer.byteLength(json);
if (size > LARGEST) exitWith(`The two files would have ${size} bytes, more than ${LARGEST}.`);
await writeFile(fileOf(release, 'ndjson'), text);
await writeFile(fileOf(release, 'json'), json);
process.stdout.write(`${events.length} events, ${size} bytes\n`);

async function writeLog(): Promise<{ text: string; answers: Record<string, unknown> }> {
  const provider = await startOpenIdProvider();
  const service = await startService({
    DB_SCHEMAS: 'public,billing',
    ...settingsOf(provider),
    OBJECTS: 'on',
    OIDC_ROLES: '{"groups":{"authors":"author","admins":"admin"}}',
  });
  await provider.register(service.url);
  const api = createApi(service);
  try {
    const session = await signIn(api.client, { email: service.adminEmail, password: service.adminPassword });
    await writeHistory({ ...service, api, session, provider });
    const { data } = await api.ok<{ data: object }>('GET', '/projections/verify');
    if (!('ok' in data && data.ok === true)) throw new Error(JSON.stringify(data));
    const exported = await api.client('/history/export');
    // Adopted, changed by a snapshot, and renamed manually.
    const path = '/history/collections/pairs?limit=500';
    return { text: exported.text, answers: { [path]: await api.ok('GET', path) } };
  } finally {
    await api.stop();
    await service.stop();
    await provider.stop();
  }
}

/** The results of this release for its log. */
function sayOf(): ReleaseLog {
  const hashes: string[] = [];
  const snapshots: ReleaseLog['snapshots'] = [];
  let state = initialState();
  for (const event of events) {
    state = evolve(state, readEvent(event));
    hashes.push(runToEnd(snapshotHash(state, release)));
    if (![EARLY, events.length].includes(event.position)) continue;
    snapshots.push({ at: event.position, snapshot: runToEnd(snapshotOf(state, release)) });
  }
  const { position = 0, hash = '' } = events.at(-1) ?? {};
  return {
    release,
    declared: declaredVersions(),
    shapes: payloadShapes(),
    head: { position, hash },
    hashes,
    snapshots,
    answers,
  };
}
