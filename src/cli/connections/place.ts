import type { Invocation } from '../command.js';

type Environment = Invocation['environment'];

/** The settings with the given options. An explicit data directory takes precedence over DATABASE_URL. */
export function withPlace(environment: Environment, values: Invocation['values']): Environment {
  const { dataDir, databaseUrl } = values as { dataDir?: string; databaseUrl?: string };
  if (dataDir !== undefined) return { ...atDatabase(environment, undefined), DATA_DIR: dataDir };
  return databaseUrl === undefined ? environment : atDatabase(environment, databaseUrl);
}

const OTHERS = ['DIRECT_DATABASE_URL', 'LISTEN_DATABASE_URL', 'DB_POOLER'];

/**
 * The settings with another DATABASE_URL.
 * @param url undefined: the embedded server
 */
export function atDatabase(environment: Environment, url: string | undefined): Environment {
  const others = ['DATABASE_URL', ...OTHERS].flatMap((name) => [name, `${name}_FILE`]);
  return { ...environment, ...Object.fromEntries(others.map((name) => [name, undefined])), DATABASE_URL: url };
}
