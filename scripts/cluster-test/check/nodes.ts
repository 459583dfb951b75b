/** Checks that all servers have the same log, rows and tables. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const TABLES = ['service_events', 'service_collections', 'service_fields', 'service_relations', 'service_divergences'];

const CATALOG = `
  SELECT md5(coalesce(string_agg(concat_ws('|', table_name, column_name, data_type, is_nullable, column_default), E'\\n'
           ORDER BY table_name COLLATE "C", column_name COLLATE "C"), '')) AS sum
    FROM information_schema.columns WHERE table_schema = 'public'`;

async function readChecksums(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const problems: string[] = [];
    for (const table of TABLES) {
      const { rows } = await client.query<{ sum: string }>(
        `SELECT count(*) || ' ' || md5(coalesce(string_agg(md5(t::text), '' ORDER BY md5(t::text)), '')) AS sum FROM service.${table} t`,
      );
      problems.push(`${table} ${rows[0]?.sum}`);
    }
    const { rows } = await client.query<{ sum: string }>(CATALOG);
    return [...problems, `catalog ${rows[0]?.sum}`].join('; ');
  } finally {
    await client.end();
  }
}

/** Time limit for the standbys to catch up, in milliseconds. */
const LIMIT = 60_000;

export async function nodes(urls: readonly string[]): Promise<string[]> {
  const end = performance.now() + LIMIT;
  for (;;) {
    const all = await Promise.all(
      urls.map((url) => readChecksums(url).catch((error: unknown) => (error as Error).message)),
    );
    if (new Set(all).size === 1) return [];
    if (performance.now() > end) return [`the servers differ:\n    ${all.join('\n    ')}`];
    await sleep(500);
  }
}
