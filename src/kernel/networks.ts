import { BlockList, isIP } from 'node:net';

/** True for an IP address, or a network such as `10.0.0.0/8`. */
export function isNetwork(text: string): boolean {
  const [, address = '', bits = '0'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && !address.includes('%') && Number(bits) <= (family === 4 ? 32 : 128);
}

export interface NetworkList {
  /** True if one of the networks contains the IP address. */
  check(address: string): boolean;
}

/**
 * Addresses such as `::ffff:10.0.0.1`. A socket that accepts both families reports the address of an IPv4 client this
 * way.
 */
const MAPPED_IPV4 = new BlockList();
MAPPED_IPV4.addSubnet('::ffff:0:0', 96, 'ipv6');

const typeOf = (address: string) => (address.includes(':') ? 'ipv6' : 'ipv4');

const isIpv4 = (address: string): boolean => typeOf(address) === 'ipv4' || MAPPED_IPV4.check(address, 'ipv6');

/**
 * True for a network that contains every IPv4 or every IPv6 address: `0.0.0.0/0`, `::/0` and `::ffff:0.0.0.0/96`. A
 * shorter prefix of an IPv4-mapped address counts too.
 */
export function isWholeFamily(network: string): boolean {
  const [address = '', length] = network.split('/');
  const isMapped = typeOf(address) === 'ipv6' && isIpv4(address);
  return length !== undefined && Number(length) <= (isMapped ? 96 : 0);
}

/**
 * Matches addresses with networks for which `isNetwork` is true. `BlockList` itself would match IPv4 addresses with
 * IPv6 networks, such as `::/0`.
 */
export function networkList(networks: readonly string[]): NetworkList {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const network of networks) {
    const [address = '', length] = network.split('/');
    const type = typeOf(address);
    const bits = length === undefined ? (type === 'ipv4' ? 32 : 128) : Number(length);
    const isMapped = type === 'ipv6' && bits >= 96 && isIpv4(address);
    lists[isMapped ? 'ipv4' : type].addSubnet(address, bits, type);
  }
  return { check: (address) => lists[isIpv4(address) ? 'ipv4' : 'ipv6'].check(address, typeOf(address)) };
}

/** True for an http address without a user or password. */
export function isServiceUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * True for the address of an OpenID issuer. It requires https, because an attacker on the network could otherwise
 * replace the issuer's keys.
 */
export function isIssuer(text: string): boolean {
  if (!isServiceUrl(text)) return false;
  const { protocol, hostname, search, hash } = new URL(text);
  return search === '' && hash === '' && (protocol === 'https:' || LOOPBACK.has(hostname));
}
