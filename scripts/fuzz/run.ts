/** The fuzzer: sends requests, checks responses, and checks all invariants from time to time. */
import { workByHand } from './by-hand.js';
import { checkAll } from './checkpoint.js';
import { type FollowUp, followUps } from './follow-up.js';
import { nextRequest } from './grammar/index.js';
import { type Fault, judge } from './judge.js';
import { mutate } from './mutate.js';
import { createRandom, type Random } from './random.js';
import { curlOf, type FuzzRequest, type Reply } from './request.js';
import { createSession, type Session } from './session.js';
import { shrink, signatureOf } from './shrink.js';
import type { Target } from './target.js';

export interface FuzzOptions {
  seed: number;
  requests: number;
  /** Requests between two checks of the invariants. */
  every: number;
  start(): Promise<Target>;
  /** Called for each finding. */
  found?(finding: Finding): void;
  progress?(sent: number): void;
}

export interface Finding extends Fault {
  signature: string;
  /** The request, or those accepted since the last successful check. */
  curl: string[];
  /** True if it was reproduced; undefined if it was not retried. */
  again?: boolean;
  /** Number of occurrences. */
  times: number;
}

export interface Report {
  sent: number;
  /** Keyed by route and status. */
  counts: Map<string, Map<number, number>>;
  findings: Finding[];
  events: number;
  longest: number;
  /** Bytes. */
  memory: number;
}

export async function fuzz(options: FuzzOptions): Promise<Report> {
  const report: Report = { sent: 0, counts: new Map(), findings: [], events: 0, longest: 0, memory: 0 };
  const random = createRandom(options.seed);
  // An inconsistent service stays inconsistent, so later requests use a new one.
  while (report.sent < options.requests) await runUntilBroken(options, report, random);
  return report;
}

interface Run {
  options: FuzzOptions;
  report: Report;
  session: Session;
  /** Accepted since the last successful check. */
  accepted: FuzzRequest[];
  waiting: FuzzRequest[];
}

async function runUntilBroken(options: FuzzOptions, report: Report, random: Random): Promise<void> {
  const session = await createSession(await options.start(), random);
  const run: Run = { options, report, session, accepted: [], waiting: [] };
  const { context } = session;
  try {
    for (let isConsistent = true; isConsistent && report.sent < options.requests;) {
      if (report.sent % 100 === 50) await workByHand(session);
      const request = run.waiting.shift() ?? mutate(nextRequest(context), random, context.world);
      await sendRequest(run, request);
      const isDue = report.sent % options.every === 0 || report.sent === options.requests;
      isConsistent = session.target.ended() === null && (!isDue || (await isWhole(run)));
    }
    recordEnd(run);
  } finally {
    report.events += context.world.head;
    await session.stop();
  }
}

async function sendRequest(run: Run, request: FuzzRequest): Promise<void> {
  const { report, session, waiting, accepted } = run;
  report.sent += 1;
  run.options.progress?.(report.sent);
  try {
    const reply = await session.execute(request);
    count(report, request, reply);
    if (reply.appended > 0) accepted.push(request);
    const fault = judge(request, reply, session.context.world.sent);
    if (fault !== null) await note(run, request, fault);
    waiting.push(...nextOf(run, { request, reply, random: session.context.random }));
  } catch (error) {
    await note(run, request, { rule: 'noAnswer', message: (error as Error).message });
  }
}

function nextOf({ waiting }: Run, exchange: Parameters<FollowUp>[0]): FuzzRequest[] {
  if (exchange.reply.status < 300 && exchange.reply.appended > 0 && exchange.request.after !== undefined)
    return exchange.request.after;
  return waiting.length > 0 ? [] : followUps(exchange);
}

function count(report: Report, { route, method }: FuzzRequest, { status, took }: Reply): void {
  const name = route.startsWith(`${method} `) ? route : `${method} ${route.split(' ')[1]}`;
  const statuses = report.counts.get(name) ?? new Map<number, number>();
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  report.counts.set(name, statuses);
  report.longest = Math.max(report.longest, took);
}

async function note({ report, session, options }: Run, request: FuzzRequest, fault: Fault): Promise<void> {
  const signature = signatureOf(request, fault);
  const reported = report.findings.find((finding) => finding.signature === signature);
  if (reported !== undefined) {
    reported.times += 1;
    return;
  }
  const smallest = await shrink(session, request, fault).catch(() => ({ request, again: false }));
  const finding = { ...fault, signature, curl: [curlOf(smallest.request)], again: smallest.again, times: 1 };
  report.findings.push(finding);
  options.found?.(finding);
}

async function isWhole(run: Run): Promise<boolean> {
  const { report, session, accepted, options } = run;
  report.memory = Math.max(report.memory, session.target.memory() ?? 0);
  const faults = await checkAll(session).catch((error: unknown): Fault[] => [
    { rule: 'noAnswer', message: (error as Error).message },
  ]);
  for (const fault of faults) {
    const finding = { ...fault, signature: fault.rule, curl: accepted.map(curlOf), times: 1 };
    report.findings.push(finding);
    options.found?.(finding);
  }
  accepted.length = 0;
  return faults.length === 0;
}

function recordEnd({ session, report, accepted, options }: Run): void {
  const message = session.target.ended();
  if (message === null) return;
  const finding = { rule: 'ended', signature: 'ended', message, curl: accepted.map(curlOf), times: 1 };
  report.findings.push(finding);
  options.found?.(finding);
}
