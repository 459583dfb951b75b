/** Schemas that real projects committed. They stay where they are: tests skip where the folder is absent. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** CORPUS, or beside the checkout. */
export const FOLDER = process.env['CORPUS'] ?? fileURLToPath(new URL('../../../shared/corpus', import.meta.url));

export interface CorpusFile {
  name: string;
  /** YAML as it was committed. */
  text: string;
}

export const corpusIsThere = (): boolean => existsSync(FOLDER);

function filesIn(folder: string): CorpusFile[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
  return names
    .sort()
    .map((name) => ({ name: basename(name, '.yaml'), text: readFileSync(join(folder, name), 'utf8') }));
}

/** One schema a file. */
export const corpusFiles = (): CorpusFile[] => filesIn(FOLDER);

/** One project's history, a step a file, in order. */
export const historyFiles = (): CorpusFile[] => filesIn(join(FOLDER, 'landingpage'));
