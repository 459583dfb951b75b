import { expect } from 'chai';
import { JSON_SCHEMA, load } from 'js-yaml';
import pg from 'pg';
import { type TestService, startService } from '../support/service.js';
import { type CorpusFile, corpusFiles, corpusIsThere, historyFiles } from './corpus.js';

interface Diff {
  hash: string;
  diff: { collections: unknown[]; fields: unknown[]; relations: unknown[] };
  warnings?: { code: string }[];
}

type Documents = Record<string, unknown>;

const count = ({ diff }: Diff): number => diff.collections.length + diff.fields.length + diff.relations.length;

function client(service: TestService) {
  const send = async (path: string, body: string, type: string) => {
    const headers = { Authorization: `Bearer ${service.adminToken}`, 'Content-Type': type };
    const response = await fetch(service.url + path, { method: 'POST', headers, body });
    const text = await response.text();
    expect(response.ok, `${path}: ${response.status} ${text.slice(0, 2000)}`).to.equal(true);
    return text;
  };
  return {
    diff: async (file: string, type = 'application/yaml') =>
      JSON.parse(await send('/schema/diff?force', file, type)) as Diff,
    apply: async ({ hash, diff }: Diff) => {
      await send('/schema/apply', JSON.stringify({ hash, diff }), 'application/json');
    },
  };
}

/** Inserts a row into every table that accepts one without values, and counts all rows. */
async function rows(databaseUrl: string, insert: boolean): Promise<Record<string, number>> {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  const counts: Record<string, number> = {};
  try {
    const tables = await database.query<{ name: string }>(
      'SELECT collection AS name FROM service.service_collections WHERE schema IS NOT NULL',
    );
    for (const { name } of tables.rows) {
      const table = pg.escapeIdentifier(name);
      if (insert) await database.query(`INSERT INTO ${table} DEFAULT VALUES`).catch(() => undefined);
      const { rows: countRows } = await database.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM ${table}`,
      );
      counts[name] = countRows[0]?.count ?? 0;
    }
  } finally {
    await database.end();
  }
  return counts;
}

/** The file with some members removed. Missing members must stay unchanged. */
function trimmed(text: string): string {
  const file = load(text, { schema: JSON_SCHEMA }) as Documents;
  let round = 0;
  const trim = (document: unknown, members: readonly string[]): void => {
    for (const member of members) {
      round += 1;
      if (round % 3 === 0 && document !== null && typeof document === 'object') delete (document as Documents)[member];
    }
  };
  for (const collection of file['collections'] as Documents[]) {
    trim(collection['meta'], ['icon', 'note', 'versioning', 'sort', 'hidden', 'translations']);
  }
  for (const field of file['fields'] as Documents[]) {
    trim(field['meta'], ['options', 'sort', 'note', 'width']);
    trim(field['schema'], ['is_indexed', 'default_value', 'is_nullable', 'comment']);
    trim(field, ['type', 'schema', 'meta']);
  }
  return JSON.stringify(file);
}

async function sendTwice(service: TestService, { name, text }: CorpusFile): Promise<void> {
  const api = client(service);
  const started = performance.now();
  const first = await api.diff(text);
  await api.apply(first);
  const milliseconds = Math.round(performance.now() - started);
  const again = await api.diff(text);
  expect(count(again), `${name}: a diff is left`).to.equal(0);

  const before = await rows(service.databaseUrl, true);
  await api.apply(again);
  const byHand = await api.diff(trimmed(text), 'application/json');
  expect(byHand.diff, `${name}: leaving members out changed something`).to.deep.equal({
    collections: [],
    fields: [],
    relations: [],
  });
  await api.apply(byHand);
  expect(await rows(service.databaseUrl, false), `${name}: rows were lost`).to.deep.equal(before);

  const total = Object.values(before).reduce((sum, each) => sum + each, 0);
  const shown = [
    `${count(first)} changes`,
    `${first.warnings?.length ?? 0} warnings`,
    `${total} rows kept`,
    `${milliseconds} ms`,
  ];
  process.stdout.write(`      ${name}: ${shown.join(', ')}\n`);
}

describe('real schemas', () => {
  before(function () {
    if (corpusIsThere()) return;
    process.stdout.write('    no real schemas (CORPUS names their folder): skipped\n');
    this.skip();
  });

  for (const file of corpusFiles()) {
    it(`${file.name} is applied completely, twice, without loss`, async () => {
      const service = await startService();
      try {
        await sendTwice(service, file);
      } finally {
        await service.stop();
      }
    });
  }

  it('apply the ten steps of one project in order on one instance', async () => {
    const service = await startService();
    try {
      for (const step of historyFiles()) await sendTwice(service, step);
    } finally {
      await service.stop();
    }
  });
});
