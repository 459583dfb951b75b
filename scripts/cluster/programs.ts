/** The programs of a cluster, and the user that runs them. */
import { execFileSync } from 'node:child_process';
import { accessSync, constants, readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface Programs {
  etcd: string;
  patroni: string;
  haproxy: string;
  /** The directory of PostgreSQL's programs. */
  postgres: string;
}

/** The Debian package of each program. */
const PACKAGES = { etcd: 'etcd-server', patroni: 'patroni', haproxy: 'haproxy', postgres: 'postgresql' } as const;

const PLACES = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/usr/bin'];

/** @returns the programs, or a sentence that names the missing ones and how to install them */
export function findPrograms(): Programs | string {
  const programs = {
    etcd: find('etcd', PLACES),
    patroni: find('patroni', PLACES),
    haproxy: find('haproxy', PLACES),
    postgres: postgresDirectory(),
  };
  const missing = (Object.keys(programs) as (keyof Programs)[]).filter((name) => programs[name] === undefined);
  if (missing.length === 0) return programs as Programs;
  const packages = missing.map((name) => PACKAGES[name]).join(' ');
  return `Missing: ${missing.join(', ')}. On Debian: apt-get install ${packages}`;
}

function find(name: string, places: readonly string[]): string | undefined {
  return places.map((place) => join(place, name)).find(isExecutable);
}

/** Debian installs each major version in its own directory, outside PATH. */
function postgresDirectory(): string | undefined {
  const debian = '/usr/lib/postgresql';
  let releases: string[] = [];
  try {
    releases = readdirSync(debian).sort((a, b) => Number(b) - Number(a));
  } catch {
    // On other systems PATH decides.
  }
  const places = [...releases.map((release) => join(debian, release, 'bin')), ...PLACES];
  return places.find((place) => isExecutable(join(place, 'postgres')));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface Account {
  uid: number;
  gid: number;
}

/** PostgreSQL refuses to run as root. Root uses the user `postgres`; undefined means the current user. */
export function serverAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }).trim());
  return { uid: id('-u'), gid: id('-g') };
}
