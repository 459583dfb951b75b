/** Parses the files of `dps pull` independently of the merge that is tested with them. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { JSON_SCHEMA, dump, load } from 'js-yaml';

export type Document = { [member: string]: unknown };

/** Documents by key: `c posts`, `f posts.title`, `r posts.author`. */
export type Documents = Map<string, Document>;

interface CollectionFile extends Document {
  collection: string;
  fields: (Document & { field: string })[];
  relations: (Document & { many_field: string })[];
}

export function filesOf(folder: string): Record<string, string> {
  const names = readdirSync(join(folder, 'collections')).sort();
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, 'collections', name), 'utf8')]));
}

export const documentsIn = (folder: string): Documents =>
  byKey(Object.values(filesOf(folder)).map((text) => load(text, { schema: JSON_SCHEMA }) as Document));

export function byKey(files: Iterable<Document>): Documents {
  const documents: Documents = new Map();
  for (const { fields, relations, ...collection } of files as Iterable<CollectionFile>) {
    const name = collection.collection;
    documents.set(`c ${name}`, collection);
    for (const each of fields) documents.set(`f ${name}.${each.field}`, each);
    for (const each of relations) documents.set(`r ${name}.${each.many_field}`, each);
  }
  return documents;
}

/** `f posts.title` → `posts`; collections of the corpus have no dots in their names. */
export const collectionOf = (key: string): string => key.slice(2).split('.')[0] as string;

/** The files that contain the documents. */
export function grouped(documents: Documents): CollectionFile[] {
  const files = new Map<string, CollectionFile>();
  for (const [key, document] of documents) {
    const name = collectionOf(key);
    if (key.startsWith('c ')) files.set(name, { ...document, fields: [], relations: [] } as unknown as CollectionFile);
  }
  for (const [key, document] of documents) {
    const file = files.get(collectionOf(key));
    if (key.startsWith('f ')) file?.fields.push(document as CollectionFile['fields'][number]);
    if (key.startsWith('r ')) file?.relations.push(document as CollectionFile['relations'][number]);
  }
  return [...files.values()];
}

/** Writes documents as files of a folder; real names need at most an escape. */
export function writeDocuments(folder: string, documents: Documents): void {
  const path = join(folder, 'collections');
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true });
  for (const file of grouped(documents))
    writeFileSync(join(path, `${escaped(file.collection)}.yaml`), dump(file, { lineWidth: -1 }));
}

const escaped = (name: string): string =>
  name.replaceAll(/[^a-z0-9_-]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);

/** Runs git in a folder without user settings. */
export function git(folder: string, ...args: string[]): string {
  const user = { NAME: 'a', EMAIL: 'a@example.com' };
  const people = Object.entries(user).flatMap(([name, value]) => [
    [`GIT_AUTHOR_${name}`, value],
    [`GIT_COMMITTER_${name}`, value],
  ]);
  const env = { PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_NOSYSTEM: '1', ...Object.fromEntries(people) };
  return execFileSync('git', args, { cwd: folder, env: env as NodeJS.ProcessEnv, encoding: 'utf8' }).trim();
}
