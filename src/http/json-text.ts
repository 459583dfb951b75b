/** A large value as JSON text in steps: JSON.stringify of 30 MiB stops the event loop for a tenth of a second. */
import { inTurns } from '../kernel/turns.js';
import type { Steps } from '../kernel/steps.js';
import { type Answer, jsonBytesAnswer } from './answer.js';

/** Characters that are written at once. */
const PIECE = 32_768;

/** Levels that are taken apart; what is deeper is written whole. */
const LEVELS = 3;

/** 200 with what `jsonAnswer` would send. */
export async function largeJsonAnswer(value: unknown): Promise<Answer> {
  return jsonBytesAnswer(200, await inTurns(jsonBytesInSteps(value)));
}

/** The bytes of what `JSON.stringify` would write. */
export function* jsonBytesInSteps(value: unknown): Steps<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  yield* jsonPiecesInSteps(value, (piece) => {
    const bytes = Buffer.from(piece);
    pieces.push(bytes);
    size += bytes.length;
  });
  const whole = Buffer.allocUnsafe(size);
  let at = 0;
  for (const piece of pieces) {
    at += piece.copy(whole, at);
    yield;
  }
  return whole;
}

/** Gives `use` what `JSON.stringify` would write, piece by piece. */
export function* jsonPiecesInSteps(value: unknown, use: (piece: string) => void): Steps<void> {
  let text = '';
  for (const token of tokensOf(value, LEVELS)) {
    text += token;
    if (text.length < PIECE) continue;
    use(text);
    text = '';
    yield;
  }
  use(text);
}

type Tokens = Generator<string, void, void>;

function* tokensOf(value: unknown, levels: number): Tokens {
  if (levels === 0 || typeof value !== 'object' || value === null) yield JSON.stringify(value) ?? 'null';
  else if (Array.isArray(value)) yield* tokensOfArray(value, levels);
  else yield* tokensOfObject(value, levels);
}

function* tokensOfArray(elements: unknown[], levels: number): Tokens {
  yield '[';
  for (const [index, element] of elements.entries()) {
    if (index > 0) yield ',';
    yield* tokensOf(element, levels - 1);
  }
  yield ']';
}

function* tokensOfObject(object: object, levels: number): Tokens {
  let before = '{';
  for (const [name, member] of Object.entries(object)) {
    if (member === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* tokensOf(member, levels - 1);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}
