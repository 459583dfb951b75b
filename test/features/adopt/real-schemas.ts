/** Real databases: ADOPT_SCHEMAS, or a folder next to the checkout, contains three schemas. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const GIVEN = process.env['ADOPT_SCHEMAS'];
const FOLDER =
  GIVEN === undefined ? new URL('../../../../shared/adopt/', import.meta.url) : pathToFileURL(join(GIVEN, '/'));

/** Tests are skipped if the schemas are missing. */
export function realSchemasAreThere(): boolean {
  const isThere = existsSync(FOLDER);
  if (!isThere) process.stdout.write('      no real schemas (ADOPT_SCHEMAS names their folder): skipped\n');
  return isThere;
}

const read = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');

/**
 * Removes what the embedded server does not support: it has no extension `vector`, so film_embedding is dropped.
 * Owners are removed, because not every server has a role called postgres.
 */
export function pagila(): string {
  return read('pagila-postgres18.sql')
    .replace(/^(CREATE|COMMENT ON) EXTENSION [^;]*;/gm, '')
    .replace(/^CREATE TABLE public\.film_embedding [^;]*;/gm, '')
    .replace(/^ALTER TABLE (ONLY )?public\.film_embedding[^;]*;/gm, '')
    .replace(/^CREATE (UNIQUE )?INDEX [^;]*ON public\.film_embedding[^;]*;/gm, '')
    .replace(/^CREATE TRIGGER [^;]*ON public\.film_embedding[^;]*;/gm, '')
    .replace(/^ALTER [A-Z ]+ [^;]* OWNER TO [^;]*;/gm, '');
}

/** Omits the extension that only a superuser may create and that no table needs. */
export function imageBoard(): string {
  return read('image-board.sql').replace(/^(CREATE|COMMENT ON) EXTENSION (IF NOT EXISTS )?pgstattuple[^;]*;/gm, '');
}

export const chinook = (): string => read('chinook.sql');
