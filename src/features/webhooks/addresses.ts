/* Decides which addresses webhooks may reach, so that nobody can use a webhook to reach the network of the service. */
import { isIP } from 'node:net';
import { networkList } from '../../kernel/networks.js';

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
export type Classify = (address: string) => Reach;

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
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

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
