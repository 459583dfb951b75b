/** Generates type definitions of a state for a programming language. */
import { type Texts, bytes } from '../../kernel/bytes.js';
import type { Resumable } from '../../kernel/resumable.js';
import type { State } from '../model/state.js';
import { snapshotHash } from '../snapshot/snapshot.js';
import { jsonSchemaOf } from './json-schema.js';
import { type Outline, outlineOf } from './outline.js';
import { typescriptOf } from './typescript.js';
import { zodOf } from './zod.js';

export const LANGUAGES = ['ts', 'zod', 'json-schema'] as const;
export type Language = (typeof LANGUAGES)[number];

const WRITERS: Readonly<Record<Language, (outline: Outline, hash: string) => Texts>> = {
  ts: typescriptOf,
  zod: zodOf,
  'json-schema': jsonSchemaOf,
};

/** Equal schemas produce equal bytes. The first line contains the hash. */
export function* programTypes(state: State, language: Language, release: string): Resumable<Buffer> {
  const outline = yield* outlineOf(state);
  return yield* bytes(WRITERS[language](outline, yield* snapshotHash(state, release)));
}
