import type { Invocation } from './command.js';

type Environment = Invocation['environment'];

/** The settings with those that options give. A named directory is meant, whatever DATABASE_URL says. */
export function withPlace(environment: Environment, values: Invocation['values']): Environment {
  const { dataDir, databaseUrl } = values as { dataDir?: string; databaseUrl?: string };
  if (dataDir !== undefined) return { ...atDatabase(environment, undefined), DATA_DIR: dataDir };
  return databaseUrl === undefined ? environment : atDatabase(environment, databaseUrl);
}

/** The settings with another DATABASE_URL, wherever theirs stands. @param url undefined: the embedded server */
export function atDatabase(environment: Environment, url: string | undefined): Environment {
  return { ...environment, DATABASE_URL: url, DATABASE_URL_FILE: undefined };
}
