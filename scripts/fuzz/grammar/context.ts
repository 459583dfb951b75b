/** The input of grammar rules. */
import type { Random } from '../random.js';
import type { FuzzRequest } from '../request.js';
import { type FieldDoc, type World, fieldsOf, tablesOf } from '../world.js';
import { HOSTILE_NAMES } from './values.js';

export interface Context {
  random: Random;
  world: World;
  release: string;
  /** Accounts that the fuzzer signs in as. No request changes them. */
  admin: { email: string; password: string };
}

/** A request in parts. Omitted parts are empty, and the default caller is an admin. */
type Made = Partial<Omit<FuzzRequest, 'route' | 'method' | 'path'>> & { path: string };

interface Rule {
  /** Relative frequency. */
  weight: number;
  make(context: Context): Made;
}

/** The rules by `METHOD /path/{parameter}`, as in the OpenAPI document. */
export type Rules = Record<string, Rule>;

/** A path with encoded segments. */
export function at(parts: TemplateStringsArray, ...values: (string | number)[]): string {
  return String.raw({ raw: parts }, ...values.map(segment));
}

export function segment(value: string | number): string {
  try {
    return encodeURIComponent(value);
  } catch {
    return '%ED%A0%80';
  }
}

const PLAIN_NAMES = Array.from({ length: 12 }, (_, index) => `c${index}`);

/** A name that may be free. */
export const newName = ({ random }: Context): string =>
  random.chance(0.75) ? random.pick(PLAIN_NAMES) : random.pick(HOSTILE_NAMES);

/** Usually the name of an existing collection. */
export function collectionName(context: Context): string {
  const { random, world } = context;
  const existing = random.some(world.snapshot.collections);
  return existing !== undefined && random.chance(0.93) ? existing.collection : newName(context);
}

export function tableName(context: Context): string {
  const { random, world } = context;
  const table = random.some(tablesOf(world));
  return table !== undefined && random.chance(0.95) ? table.collection : newName(context);
}

const NOWHERE: FieldDoc = { collection: 'nowhere', field: 'nothing', type: 'string', meta: {}, schema: {} };

/** Usually an existing field. */
export function someField({ random, world }: Context): FieldDoc {
  return (random.chance(0.95) ? random.some(world.snapshot.fields) : undefined) ?? NOWHERE;
}

export function fieldNameOf({ random, world }: Context, collection: string): string {
  return random.some(fieldsOf(world, collection))?.field ?? 'id';
}

/** Some of the entries, each with its probability. */
export function maybe(random: Random, entries: Record<string, [number, () => string]>): [string, string][] {
  return Object.entries(entries).flatMap(([name, [probability, value]]): [string, string][] =>
    random.chance(probability) ? [[name, segment(value())]] : [],
  );
}

const FLAGS = ['', 'true', '1', 'false', '0'];
export const flag = (random: Random) => () => random.pick(FLAGS);

/** Usually none, so that the change is applied. */
export const randomTrialFlags = ({ random }: Context): [string, string][] =>
  maybe(random, { dry_run: [0.1, flag(random)], explain: [0.1, flag(random)] });
