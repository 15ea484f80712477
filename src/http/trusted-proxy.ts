/**
 * A proxy in front that signs people in: its headers say who they are and where they come from. They are believed only in
 * requests whose peer is the proxy, since everybody else can send the same headers.
 */

import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { RESERVED_NAMES } from '../api/token.ts';
import { WorkronError } from '../core/error.ts';
import { ROLE_SCOPES, type TokenRole } from '../core/token.ts';
import type { RoleRule } from '../ops/settings/parse.ts';
import { named, type Principal } from './authenticate.ts';

export interface ProxyOptions {
  /** Addresses and networks of the proxies. */
  peers: readonly string[];
  /** The header with the name of the user; `null`: the proxy signs nobody in. */
  userHeader: string | null;
  /** The first rule that matches gives the role. */
  roles: readonly RoleRule[];
}

/** Names are shown in the audit and on jobs: no control characters, and none that change the direction of what follows. */
const NAME = /^[^\p{C}\p{Z}]{1,128}$/u;
const MAX_HOPS = 32;

export class TrustedProxy {
  readonly #peers = new BlockList();
  readonly #userHeader: string | null;
  readonly #roles: readonly { pattern: RegExp; role: TokenRole }[];

  constructor({ peers, userHeader, roles }: ProxyOptions) {
    for (const peer of peers) {
      const [address = '', prefix] = peer.split('/');
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
      if (prefix === undefined) this.#peers.addAddress(address, family);
      else this.#peers.addSubnet(address, Number(prefix), family);
    }
    this.#userHeader = userHeader?.toLowerCase() ?? null;
    this.#roles = roles.map(({ pattern, role }) => ({ pattern: expressionOf(pattern), role }));
  }

  /** Where a request comes from: its peer, or what a trusted peer says. Proxies add to the end of the list. */
  addressOf(request: IncomingMessage, peer: string | undefined): string {
    if (peer === undefined || !this.#trusts(peer)) return peer ?? 'local socket';
    const hops = String(request.headers['x-forwarded-for'] ?? '').split(',');
    for (const hop of hops.slice(-MAX_HOPS).reverse()) {
      const address = plain(hop.trim());
      if (isIP(address) === 0) return peer;
      if (!this.#trusts(address)) return address;
    }
    return peer;
  }

  /**
   * Returns the user whom a trusted peer names; `undefined` if it names none. Throws `bad_request` for two names, and
   * `forbidden` for a user without a role.
   */
  userOf(request: IncomingMessage, peer: string | undefined): Principal | undefined {
    const header = this.#userHeader;
    if (header === null || peer === undefined || !this.#trusts(peer)) return undefined;
    const { rawHeaders } = request;
    const values = rawHeaders.filter((_, place) => place % 2 === 1 && rawHeaders[place - 1]?.toLowerCase() === header);
    const [value, ...others] = values;
    if (value === undefined || value === '') return undefined;
    if (others.length > 0 || !NAME.test(value)) throw new WorkronError('bad_request', `Expected one name in ${header}`);
    const role = RESERVED_NAMES.includes(value)
      ? undefined
      : this.#roles.find(({ pattern }) => pattern.test(value))?.role;
    if (role === undefined) throw new WorkronError('forbidden', `${value} has no role here; role-map gives roles`);
    return userPrincipal({ name: value, role });
  }

  #trusts(address: string): boolean {
    const known = plain(address);
    const family = isIP(known);
    return family !== 0 && this.#peers.check(known, family === 6 ? 'ipv6' : 'ipv4');
  }
}

/** A user of an application or a proxy in front, which sign in by themselves: there is no session of ours. */
export function userPrincipal({
  name,
  role,
  queues = null,
}: {
  name: string;
  role: TokenRole;
  queues?: readonly string[] | null;
}): Principal {
  const ownWorkersOnly = role === 'worker';
  return { ...named(name), id: `user ${name}`, owner: null, scopes: ROLE_SCOPES[role], queues, ownWorkersOnly };
}

/** An IPv4 address that a socket for both families shows as IPv6. */
function plain(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

function expressionOf(pattern: string): RegExp {
  const escaped = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${escaped.join('.*')}$`, 'iu');
}
