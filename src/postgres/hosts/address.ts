/**
 * Parses a database address with several hosts like libpq:
 * `postgresql://user:password@one:5432,two:5433/db?target_session_attrs=read-write`. The driver supports only one host,
 * so the address is split and rebuilt for each host.
 */

export interface Host {
  /** A name, an address without brackets, or the directory of a socket. Empty uses the driver's default. */
  name: string;
  port: number;
}

/** Accepted values of libpq's parameter `target_session_attrs`. */
const SESSION_ATTRS = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const;

export type SessionAttrs = (typeof SESSION_ATTRS)[number];

export interface DatabaseAddress {
  hosts: Host[];
  attrs: SessionAttrs;
  /** Returns the address with one host, for the driver. */
  of(host: Host): string;
}

const DEFAULT_PORT = 5432;

/**
 * Captures scheme, user and password, hosts, database and parameters. The password may contain an `@`, as the driver
 * allows.
 */
const PARTS = /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#@]*)((?:\/[^?#]*)?)(?:\?([^#]*))?$/i;

type AddressParts = [scheme: string, user: string, hosts: string, path: string, parameters: string];

/**
 * Parameters of libpq that this module evaluates itself, because the driver does not support them or supports them for
 * one host only.
 */
const OURS = ['target_session_attrs', 'host', 'port'];

/**
 * Parses an address.
 * @returns undefined if it is invalid. The caller writes the message.
 */
export function parseAddress(text: string): DatabaseAddress | undefined {
  const parts = PARTS.exec(text);
  if (parts === null) return undefined;
  const [scheme, user, authority, path, query] = parts
    .slice(1)
    .map((part: string | undefined) => part ?? '') as AddressParts;
  const parameters = new URLSearchParams(query);
  const attrs = attrsOf(parameters.get('target_session_attrs'));
  const hosts = hostsOf(authority, { host: parameters.get('host'), port: parameters.get('port') });
  if (!attrs || !hosts) return undefined;
  for (const name of OURS) parameters.delete(name);
  const of = (host: Host): string => {
    const [where, rest] = placeOf(host, parameters);
    return `${scheme}${user}${where}${path || '/'}${queryOf(rest)}`;
  };
  return hosts.every((host) => URL.canParse(of(host))) ? { hosts, attrs, of } : undefined;
}

function queryOf(parameters: URLSearchParams): string {
  const texts = [...parameters].map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  return texts.length === 0 ? '' : `?${texts.join('&')}`;
}

/** Returns the host as a parameter if it is a socket directory, which cannot be written before the path. */
function placeOf(host: Host, parameters: URLSearchParams): [string, URLSearchParams] {
  if (!host.name.startsWith('/')) return [formatHost(host), parameters];
  return [`localhost:${host.port}`, new URLSearchParams([...parameters, ['host', host.name]])];
}

function attrsOf(value: string | null): SessionAttrs | undefined {
  return value === null ? 'any' : SESSION_ATTRS.find((each) => each === value);
}

/** Returns the hosts of an address. Hosts and ports in the parameters override those before the path. */
function hostsOf(authority: string, parameters: { host: string | null; port: string | null }): Host[] | undefined {
  const written = authority.split(',').map(hostOf);
  const names = parameters.host === null ? written.map((each) => each?.name) : parameters.host.split(',');
  const ports = parameters.port === null ? portsBeside(names.length, written) : parameters.port.split(',').map(portOf);
  // A single port applies to all hosts.
  if (ports.length !== names.length && ports.length !== 1) return undefined;
  const hosts = names.map((name, index) => ({ name, port: ports[index] ?? ports[0] }));
  return hosts.every((host): host is Host => host.name !== undefined && host.port !== undefined) ? hosts : undefined;
}

function portsBeside(count: number, written: readonly (Host | undefined)[]): (number | undefined)[] {
  return written.length === count ? written.map((each) => each?.port) : [written[0]?.port];
}

function hostOf(text: string): Host | undefined {
  const [, name, port] = /^(\[[\da-f:.%]+\]|[^:[\]\s]*)(?::(\d*))?$/i.exec(text) ?? [];
  const number = portOf(port ?? '');
  if (name === undefined || number === undefined) return undefined;
  const decoded = decodeOrNull(name.replaceAll(/^\[|\]$/g, ''));
  return decoded === null ? undefined : { name: decoded, port: number };
}

function decodeOrNull(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function portOf(text: string): number | undefined {
  if (text === '') return DEFAULT_PORT;
  const port = Number(text);
  return /^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535 ? port : undefined;
}

/** Formats a host for display: `db1:5432`, `[::1]:5432`. */
export function formatHost({ name, port }: Host): string {
  return `${name.includes(':') ? `[${name}]` : name}:${port}`;
}
