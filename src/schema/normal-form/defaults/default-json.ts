/**
 * Default values of json columns. Objects, arrays, numbers and booleans are stored directly. A string is JSON text, so
 * a default that is a JSON string or null stays text: `"\"abc\""`, `"null"`.
 */
import { runToEnd } from '../../../kernel/resumable.js';
import { Wrong } from '../checks.js';
import { plainDecimal } from './default-numbers.js';
import { checkJson } from '../json.js';
import type { Json } from '../../../kernel/json.js';

const NOT_JSON = new Wrong('must be JSON: an object, an array, a number, a boolean, or a string that holds JSON text');
const LOSES_DIGITS = new Wrong('holds a number with more digits than JSON readers keep exactly');

/** Returns the value in normal form, or its fault. JSON text of an object or array is parsed. */
export function jsonDefault(value: unknown): Json | Wrong {
  if (typeof value !== 'string') return value === undefined ? NOT_JSON : (value as Json);
  let parsed: Json;
  try {
    parsed = JSON.parse(value) as Json;
  } catch {
    return NOT_JSON;
  }
  if (losesDigits(value)) return LOSES_DIGITS;
  const [problem] = runToEnd(checkJson(parsed)).problems;
  if (problem !== undefined) return new Wrong(`is not fit: in its JSON text, ${problem.message}`);
  return typeof parsed === 'string' || parsed === null ? JSON.stringify(parsed) : parsed;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

function losesDigits(text: string): boolean {
  for (const [token] of text.matchAll(TOKEN)) {
    if (token.startsWith('"')) continue;
    const plain = plainDecimal(token);
    if (plain === null || plainDecimal(String(Number(token))) !== plain) return true;
  }
  return false;
}
