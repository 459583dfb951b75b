import type { Invocation } from './command.js';

type Environment = Invocation['environment'];

/** The settings with those that options give. A named directory is meant, whatever DATABASE_URL says. */
export function withPlace(environment: Environment, values: Invocation['values']): Environment {
  const { dataDir, databaseUrl } = values as { dataDir?: string; databaseUrl?: string };
  if (dataDir !== undefined) return { ...environment, DATA_DIR: dataDir, DATABASE_URL: undefined };
  return databaseUrl === undefined ? environment : { ...environment, DATABASE_URL: databaseUrl };
}
