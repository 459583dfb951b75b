import { execFile } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

export const run = promisify(execFile);

/** The path of pg_dump for this server, from Debian's folders or PATH; null if none is new enough. */
export async function clientPrograms(majorVersion: number): Promise<string | null> {
  const places = [`/usr/lib/postgresql/${majorVersion}/bin`, ...(process.env['PATH'] ?? '').split(delimiter)];
  for (const place of places) {
    const version = await run(join(place, 'pg_dump'), ['--version']).then(
      ({ stdout }) => Number(/\) (\d+)/.exec(stdout)?.[1]),
      () => 0,
    );
    if (version >= majorVersion) return place;
  }
  return null;
}

/** One schema as SQL, equal for equal objects. */
export async function dumpSchema(programs: string, connectionString: string, schema: string): Promise<string> {
  const help = await run(join(programs, 'pg_dump'), ['--help']);
  const fixed = help.stdout.includes('--restrict-key') ? ['--restrict-key=fixed'] : [];
  const args = [`--schema=${schema}`, ...fixed, connectionString];
  const { stdout } = await run(join(programs, 'pg_dump'), args, { maxBuffer: 64 * 1024 ** 2 });
  return stdout;
}
