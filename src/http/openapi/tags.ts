/** The groups of operations in the document: the first path segment. */
import type { Route } from '../route.js';

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  collections: 'Tables, and folders that group them',
  fields: 'The columns of a collection, and its alias fields',
  relations: 'Foreign keys, and what else ties collections together; named by their many side',
  schema: 'The schema as a whole: snapshot, diff, apply, adopt, drift',
  trash: 'What was deleted and can come back',
  policy: 'What may be done to the schema without asking',
  changes: 'Change requests: changes that are prepared while their tables are used',
  auth: 'Signing in and out',
  users: 'Users and their tokens',
  sessions: 'Who is signed in',
  history: 'The log: what changed, when, by whom and why; the schema at any moment',
  projections: 'What is made from the log: how far it is, whether it is right',
  server: 'The service itself',
  metrics: 'Figures for monitoring',
  docs: 'This description, for people',
};

/** `collections` for `/collections/:collection`; empty for the root. */
export const tagOf = (path: string): string => path.split('/')[1] ?? '';

/** In route order. */
export function tagsOf(routes: readonly Route[]): { name: string; description: string }[] {
  const names = [...new Set(routes.map(({ path }) => tagOf(path)))];
  return names.map((name) => ({ name, description: DESCRIPTIONS[name] ?? name }));
}
