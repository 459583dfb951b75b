/**
 * Sends requests to addresses that admins configured, with limits for the address, the time and the response: messages
 * to the receivers of webhooks, and the requests to other environments.
 */
import { lookup as resolve } from 'node:dns';
import { type ClientRequest, type IncomingMessage, Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { networkList } from '../../kernel/networks.js';

export interface Sent {
  /** Null if there was no response. */
  status: number | null;
  /** The error. Null if the status is 2xx. */
  error: string | null;
  /** Milliseconds that the receiver asked the service to wait. Null if it did not. */
  retryAfter: number | null;
  milliseconds: number;
}

interface Outgoing {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Aborts the request. */
  signal: AbortSignal;
}

export interface Sender {
  /** Sends a request. Never throws: a failed or aborted request has an `error`. */
  send(request: Outgoing): Promise<Sent>;
  /** Closes idle connections. */
  close(): void;
}

/** Milliseconds until the connection must be established, until the response must begin, and until it must end. */
export interface Timeouts {
  connect: number;
  response: number;
  whole: number;
}

const TIMEOUTS: Timeouts = { connect: 5_000, response: 10_000, whole: 15_000 };

/** Number of bytes of a response that are read, so that the connection can be reused. The content is discarded. */
const MOST_READ = 4 * 1024;

/** The longest pause in milliseconds that a receiver can ask for. */
const LONGEST_PAUSE = 86_400_000;

class RejectedAddressError extends Error {}

interface SenderOptions {
  classify: Classify;
  timeouts?: Partial<Timeouts>;
}

/** Creates a sender of webhook messages. */
export function createSender({ classify, timeouts }: SenderOptions): Sender {
  const limits = { ...TIMEOUTS, ...timeouts };
  const outbound = createOutbound({ classify, idleMs: limits.whole });

  const once = async (url: URL, { headers, body, signal }: Outgoing): Promise<Answered> => {
    const sized = { ...headers, 'content-length': Buffer.byteLength(body) };
    const begun = await outbound.send(url, { method: 'POST', headers: sized, body, signal }, limits);
    if ('failure' in begun) return begun;
    const { response } = begun;
    const answered = { status: response.statusCode ?? 0, retryAfter: pauseOf(response) };
    return new Promise((settle) => drain(response, () => settle(answered)));
  };

  return {
    async send(outgoing) {
      const started = performance.now();
      const answered = await once(new URL(outgoing.url), outgoing);
      const milliseconds = Math.round(performance.now() - started);
      if ('failure' in answered)
        return { status: null, error: describeFailure(answered.failure, 'receiver'), retryAfter: null, milliseconds };
      const { status, retryAfter } = answered;
      return { status, error: faultOf(status), retryAfter, milliseconds };
    },
    close: () => outbound.close(),
  };
}

interface Failure {
  failure: unknown;
  /** True if the server closed an idle connection when the request was about to use it. */
  wasIdle?: boolean;
}

type Answered = { status: number; retryAfter: number | null } | Failure;

interface OutboundRequest {
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string | number>>;
  body?: string;
  signal: AbortSignal;
}

export interface Outbound {
  /**
   * Resolves when the response begins. The time limit for its end still applies, and destroys the response. Never
   * throws.
   */
  send(url: URL, request: OutboundRequest, limits: Timeouts): Promise<{ response: IncomingMessage } | Failure>;
  /** Closes idle connections. */
  close(): void;
}

/**
 * Creates a client that checks the address that the connection actually uses, so that a second lookup of the name cannot
 * return another one. It does not follow redirects, because no admin configured their targets.
 */
export function createOutbound({ classify, idleMs }: { classify: Classify; idleMs: number }): Outbound {
  // Idle connections are closed after this time, before most servers close them.
  const pooling = { keepAlive: true, maxFreeSockets: 10, timeout: idleMs };
  const agents = { 'http:': new HttpAgent(pooling), 'https:': new HttpsAgent(pooling) };

  const isUsable = (address: string, protocol: string): boolean => {
    const reach = classify(address);
    return reach === 'allowed' || (reach === 'public' && protocol === 'https:');
  };

  const checkedLookup =
    (protocol: string): LookupFunction =>
    (host, options, callback) =>
      resolve(host, { ...options, all: true }, (error, addresses) => {
        const usable = addresses?.filter(({ address }) => isUsable(address, protocol)) ?? [];
        const [first] = usable;
        if (error !== null) callback(error, '');
        else if (first === undefined) callback(new RejectedAddressError(), '');
        else if (options.all === true) callback(null, usable);
        else callback(null, first.address, first.family);
      });

  const once: Outbound['send'] = (url, { method, headers, body, signal }, limits) => {
    const host = hostOf(url);
    // The agent's lookup is not called for an IP address, so the address is checked here.
    if (isIP(host) !== 0 && !isUsable(host, url.protocol))
      return Promise.resolve({ failure: new RejectedAddressError() });
    const protocol = url.protocol === 'http:' ? 'http:' : 'https:';
    const request = (protocol === 'http:' ? requestHttp : requestHttps)(url, {
      method,
      headers,
      agent: agents[protocol],
      lookup: checkedLookup(protocol),
      signal,
    });
    const begun = responseTo(request, limits);
    request.end(body);
    return begun;
  };

  return {
    async send(url, request, limits) {
      const begun = await once(url, request, limits);
      // The request itself was correct, so it is sent again.
      const isRepeated = 'failure' in begun && begun.wasIdle === true && !request.signal.aborted;
      return isRepeated ? once(url, request, limits) : begun;
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

class TooSlowError extends Error {}

/** Resolves as soon as the response begins. */
function responseTo(request: ClientRequest, limits: Timeouts): Promise<{ response: IncomingMessage } | Failure> {
  return new Promise((settle) => {
    const timers = new Set<NodeJS.Timeout>();
    const limit = (milliseconds: number, what: string): NodeJS.Timeout => {
      const error = new TooSlowError(`${what} within ${milliseconds / 1000} s.`);
      const timer = setTimeout(() => request.destroy(error), milliseconds);
      timers.add(timer);
      return timer;
    };
    const connecting = limit(limits.connect, 'did not accept a connection');
    const responding = limit(limits.response, 'did not respond');
    limit(limits.whole, 'did not finish its response');

    request.once('socket', (socket) => {
      if (request.reusedSocket) clearTimeout(connecting);
      else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => clearTimeout(connecting));
    });
    request.once('response', (response) => {
      clearTimeout(responding);
      // A response without a listener for errors would end the process.
      response.on('error', () => undefined);
      settle({ response });
    });
    // After the beginning of the response, its reader notices that it ends early.
    request.on('error', (failure: NodeJS.ErrnoException) => {
      const wasIdle = request.reusedSocket && (failure.code === 'ECONNRESET' || failure.code === 'EPIPE');
      settle({ failure, wasIdle });
    });
    request.once('close', () => {
      for (const timer of timers) clearTimeout(timer);
      settle({ failure: new Error('no response') });
    });
  });
}

/**
 * Reads the response and calls `onEnd` once. A response that is too large or takes too long is cut off, but its status
 * counts.
 */
function drain(response: IncomingMessage, onEnd: () => void): void {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MOST_READ) response.destroy();
  });
  response.on('error', () => undefined);
  response.once('close', onEnd);
}

/** Returns the pause from the header Retry-After, which contains seconds or a date. */
function pauseOf({ headers }: IncomingMessage): number | null {
  const text = headers['retry-after']?.trim() ?? '';
  const milliseconds = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(milliseconds) ? Math.min(Math.max(0, milliseconds), LONGEST_PAUSE) : null;
}

function faultOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status === 410) return 'The receiver responded with 410 (Gone).';
  if (status >= 300 && status < 400)
    return `The receiver responded with ${status}. Redirects are not followed. Set the address that it redirects to.`;
  return `The receiver responded with ${status}.`;
}

const CLOSED = 'closed the connection without a response.';
const UNREACHABLE = 'cannot be reached.';

/** Sentence endings about a server, by error code. */
const PREDICATES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection.',
  ECONNRESET: CLOSED,
  EPIPE: CLOSED,
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  ETIMEDOUT: UNREACHABLE,
};

/**
 * Describes a failure without the address of the server or text from it.
 * @param server what the request was sent to: `receiver`
 */
export function describeFailure(failure: unknown, server: 'receiver' | 'environment'): string {
  if (failure instanceof TooSlowError) return `The ${server} ${failure.message}`;
  if (failure instanceof RejectedAddressError)
    return `The ${server} is in a private network, or http is not allowed for it. An operator can add its network to WEBHOOK_PRIVATE_NETWORKS.`;
  const { code = '' } = failure as NodeJS.ErrnoException;
  if (/CERT|SSL|TLS|SIGNATURE|ISSUER/.test(code)) return `The TLS connection failed (${code}).`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `The host name of the ${server} could not be resolved.`;
  if (code === 'ABORT_ERR') return 'The service interrupted the request.';
  const predicate = PREDICATES[code];
  return predicate === undefined
    ? `The request failed${code === '' ? '' : ` (${code})`}.`
    : `The ${server} ${predicate}`;
}

/* Decides which addresses requests may reach, so that nobody can use them to reach the network of the service. */

/** IPv4 addresses that are not public, from the IANA registry of special-purpose addresses. */
const NOT_PUBLIC_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** The only range that contains public IPv6 addresses. It excludes IPv4-mapped and NAT64 addresses. */
const PUBLIC_V6 = '2000::/3';

/** Ranges within `PUBLIC_V6` that are not public: protocols, Teredo, documentation, 6to4. */
const NOT_PUBLIC_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

/**
 * `allowed` means that the address is in WEBHOOK_PRIVATE_NETWORKS, even if it is public. All other addresses are
 * `public` or `forbidden`.
 */
type Reach = 'public' | 'allowed' | 'forbidden';

/** Classifies an IP address. Anything that is not an IP address is forbidden. */
type Classify = (address: string) => Reach;

/** @param networks addresses and networks such as `10.0.0.0/8` and `::1` */
export function createClassify(networks: readonly string[]): Classify {
  const allowed = networkList(networks);
  const notPublic = networkList([...NOT_PUBLIC_V4, ...NOT_PUBLIC_V6]);
  const publicV6 = networkList([PUBLIC_V6]);
  return (text) => {
    // A link-local address may contain the name of its interface: `fe80::1%eth0`.
    const address = text.replace(/%.*$/, '');
    const family = isIP(address);
    if (family === 0) return 'forbidden';
    if (allowed.check(address)) return 'allowed';
    if (family === 6 && !publicV6.check(address)) return 'forbidden';
    return notPublic.check(address) ? 'forbidden' : 'public';
  };
}

/** Returns the host of an address. For IPv6, without brackets. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/**
 * Returns why a webhook cannot have this address, or null. Host names are resolved and checked later, when the service
 * connects.
 */
export function addressFault(text: string, classify: Classify, allowsHttp: boolean): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return 'must be an address such as https://example.com/hook';
  if (url.username + url.password !== '')
    return 'must not contain a user or a password; receivers verify the signature instead';
  const isPlain = url.protocol === 'http:';
  if (isPlain && !allowsHttp) return 'must begin with https://, because WEBHOOK_PRIVATE_NETWORKS is not set';
  const host = hostOf(url);
  return isIP(host) === 0 ? null : literalFault(classify(host), isPlain);
}

function literalFault(reach: Reach, isPlain: boolean): string | null {
  if (reach === 'forbidden') return 'must not be a private address, unless WEBHOOK_PRIVATE_NETWORKS contains it';
  return isPlain && reach === 'public' ? 'must begin with https:// for a public address' : null;
}
