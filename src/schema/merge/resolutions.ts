/** Reads submitted resolutions, and describes conflicts. */
import { isObject } from '../../kernel/json.js';
import {
  type Path,
  type Problem,
  type Result,
  invalid,
  ok,
  problemsOfEach,
  refuse,
  renderPath,
  unknownMembers,
} from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import type { MergePlace, Resolution } from './model.js';

/** Maximum steps of a location. Documents are less deeply nested. */
const LONGEST_PATH = 100;

const MEMBERS: ReadonlySet<string> = new Set(['place', 'take']);
const PARTS = new Set(['collections', 'fields', 'relations']);

/** Reads any number of submitted resolutions. */
export function* readResolutions(given: unknown): Resumable<Result<Resolution[]>> {
  if (given === undefined) return ok([]);
  if (!Array.isArray(given)) return refuse(invalid(['resolve'], 'resolve is an array of { place, take }'));
  const problems = yield* problemsOfEach(given, (each, index) => resolutionProblems(each, ['resolve', index]));
  return problems.length > 0 ? refuse(...problems) : ok(given as Resolution[]);
}

function resolutionProblems(given: unknown, at: Path): Problem[] {
  if (!isObject(given)) return [invalid(at, 'an object with place and take')];
  const problems = unknownMembers(given, MEMBERS, at);
  const { place, take } = given;
  if (take !== 'ours' && take !== 'theirs') problems.push(invalid([...at, 'take'], 'take is ours or theirs'));
  if (!isPlace(place)) problems.push(invalid([...at, 'place'], 'place is what a conflict said, as it is'));
  return problems;
}

function isPlace(place: unknown): boolean {
  if (!isObject(place)) return false;
  const { part, collection, field, path = [] } = place;
  if (typeof part !== 'string' || !PARTS.has(part) || typeof collection !== 'string') return false;
  const isNamed = part === 'collections' ? field === undefined : typeof field === 'string';
  const isStep = (step: unknown): boolean => typeof step === 'string' || Number.isInteger(step);
  return isNamed && Array.isArray(path) && path.length <= LONGEST_PATH && path.every(isStep);
}

/** `fields posts.title, meta.note`: for people. */
export function describePlace({ part, collection, field, path = [] }: MergePlace): string {
  const thing = field === undefined ? collection : `${collection}.${field}`;
  const kind = { collections: 'collection', fields: 'field', relations: 'relation' }[part];
  return `${kind} ${thing}${path.length > 0 ? `, ${renderPath(path)}` : ''}`;
}
