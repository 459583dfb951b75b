/** Removes the parts of a request that its finding does not need. */
import { type Fault, judge } from './judge.js';
import type { FuzzRequest } from './request.js';
import type { Session } from './session.js';

const TRIES = 150;

/** Equal for findings that probably have the same cause. */
export function signatureOf({ route }: FuzzRequest, { rule, message }: Fault): string {
  const [first = '', second = ''] = message.split('\n');
  const words = `${first} ${second}`
    .replaceAll(/(?<=[A-Z] )\/\S+/g, '…')
    .replaceAll(/"(?:[^"\\]|\\.)*"|\d+|[0-9a-f-]{36}/g, '…');
  return `${rule} ${rule === 'serverErrors' ? '' : route} ${words.slice(0, 160)}`;
}

export interface Shrunk {
  request: FuzzRequest;
  /** The same request reproduced it. */
  again: boolean;
}

/** The smallest request found with the same violation. */
export async function shrink(session: Session, request: FuzzRequest, fault: Fault): Promise<Shrunk> {
  const signature = signatureOf(request, fault);
  let tries = 0;
  const shows = async (candidate: FuzzRequest): Promise<boolean> => {
    tries += 1;
    try {
      const verdict = judge(candidate, await session.execute(candidate), session.context.world.sent);
      return verdict !== null && signatureOf(candidate, verdict) === signature;
    } catch {
      return session.target.ended() === null && fault.rule === 'noAnswer';
    }
  };
  if (session.target.ended() !== null || !(await shows(request))) return { request, again: false };
  // The expectations depend on the previous request, so a smaller request has none.
  if (fault.rule === 'expected') return { request, again: true };
  let smallest = request;
  for (let progress = true; progress && tries < TRIES;) {
    progress = false;
    for (const candidate of smallerThan(smallest)) {
      if (tries >= TRIES || session.target.ended() !== null) break;
      if (!(await shows(candidate))) continue;
      smallest = candidate;
      progress = true;
      break;
    }
  }
  return { request: smallest, again: true };
}

function* smallerThan(request: FuzzRequest): Generator<FuzzRequest> {
  for (const name of Object.keys(request.headers)) {
    const { [name]: _, ...headers } = request.headers;
    yield { ...request, headers };
  }
  for (const index of request.query.keys()) yield { ...request, query: request.query.toSpliced(index, 1) };
  const { body } = request;
  if (body === undefined) return;
  const { body: _, ...bodiless } = request;
  yield bodiless;
  if (body.kind === 'text') return;
  if (body.kind !== 'json') yield { ...request, body: { kind: 'json', value: body.value } };
  for (const value of smallerValues(body.value)) yield { ...request, body: { ...body, value } };
}

/** Each candidate lacks one part, large parts first. */
function* smallerValues(value: unknown): Generator<unknown> {
  if (typeof value === 'string') {
    if (value.length > 16) yield value.slice(0, value.length >> 1);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    yield* smallerLists(value);
    return;
  }
  const entries = Object.entries(value);
  for (const [name] of entries) yield Object.fromEntries(entries.filter(([other]) => other !== name));
  for (const [name, member] of entries) {
    for (const smaller of smallerValues(member)) {
      yield Object.fromEntries(entries.map(([other, old]) => [other, other === name ? smaller : old]));
    }
  }
}

function* smallerLists(list: readonly unknown[]): Generator<unknown> {
  if (list.length > 3) {
    yield list.slice(0, list.length >> 1);
    yield list.slice(list.length >> 1);
  }
  for (const index of list.keys()) yield list.toSpliced(index, 1);
  for (const [index, element] of list.entries()) {
    for (const smaller of smallerValues(element)) yield list.with(index, smaller);
  }
}
