/** Schemas committed by real projects. They are not part of the repository: tests are skipped without the folder. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** CORPUS, or a folder next to the checkout. */
export const FOLDER = process.env['CORPUS'] ?? fileURLToPath(new URL('../../../shared/corpus', import.meta.url));

export interface CorpusFile {
  name: string;
  /** The committed YAML. */
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

/** One schema per file. */
export const corpusFiles = (): CorpusFile[] => filesIn(FOLDER);

/** The history of one project, one step per file, in order. */
export const historyFiles = (): CorpusFile[] => filesIn(join(FOLDER, 'landingpage'));
