/** Builds the value of a scanned JSON text in chunks with JSON.parse. */
import type { Resumable } from '../../kernel/resumable.js';
import type { Cut, JsonScan } from './json-scan.js';

type Container = unknown[] | Record<string, unknown>;

/** @throws TypeError if the text is not UTF-8 */
export function* buildJson(bytes: Uint8Array, { cuts }: JsonScan): Resumable<unknown> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const textOf = (from: number, to: number): string => decoder.decode(bytes.subarray(from, to));
  if (cuts.length === 0) return JSON.parse(textOf(0, bytes.length));

  const open: Container[] = [];
  let whole: Container | undefined;
  for (const cut of cuts) {
    const parent = open.at(-1);
    if (parent !== undefined) addChunk(parent, textOf(cut.from, cut.to));
    if (cut.kind === 'close') open.pop();
    if (cut.kind === 'open') {
      const container: Container = cut.isArray ? [] : {};
      whole ??= container;
      if (parent !== undefined) addOne(parent, container, nameOf(cut, textOf));
      open.push(container);
    }
    yield;
  }
  return whole;
}

function nameOf({ name }: Cut, textOf: (from: number, to: number) => string): string | null {
  return name === null ? null : (JSON.parse(textOf(...name)) as string);
}

function addChunk(container: Container, text: string): void {
  if (Array.isArray(container)) for (const element of JSON.parse(`[${text}]`) as unknown[]) container.push(element);
  else for (const [name, value] of Object.entries(JSON.parse(`{${text}}`) as object)) addOne(container, value, name);
}

/** Assigning to `__proto__` would replace the prototype instead of adding a member. */
function addOne(container: Container, value: unknown, name: string | null): void {
  if (Array.isArray(container)) container.push(value);
  else if (name !== '__proto__') container[name as string] = value;
  else Object.defineProperty(container, name, { value, enumerable: true, writable: true, configurable: true });
}
