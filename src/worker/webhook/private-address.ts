/** Private addresses, which a webhook may not reach unless a setting allows it. */

import { BlockList, isIP } from 'node:net';

const NETWORKS = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
  ['::', 127],
  /** IPv4 in IPv6, by translation or tunnel: the address behind it is not visible. */
  ['64:ff9b::', 32],
  ['2001::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 9],
  ['ff00::', 8],
] as const;

const blocked = listOf(NETWORKS.map(([address, prefix]) => `${address}/${prefix}`));

/** Takes networks such as `10.0.0.0/8`, single addresses, or `all`. */
export function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks.flatMap((name) => (name === 'all' ? ['0.0.0.0/0', '::/0'] : [name]))) {
    const [address, prefix] = network.split('/') as [string, string | undefined];
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

export function isRefused(address: string, allowed: BlockList): boolean {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  return blocked.check(address, family) && !allowed.check(address, family);
}
