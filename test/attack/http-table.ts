/** All attacks over HTTP, on servers that they are given. */

import type { TestServer } from '../kit/http.ts';
import type { Attack } from './attack.ts';
import { derivedAttacks, detourAttacks, sessionAttacks } from './caller-attacks.ts';
import { escapeAttacks, hiddenAttacks, sealedAttacks } from './hidden-attacks.ts';
import { addressAttacks, bodyAttacks, hostAttacks, roleAttacks, tokenAttacks } from './http-attacks.ts';
import { proxyAttacks, queueAttacks } from './proxy-attacks.ts';

interface Targets {
  /** Without a token. */
  open: TestServer;
  /** With the token of the attacks. */
  guarded: TestServer;
  near: TestServer;
  far: TestServer;
}

export async function allHttpAttacks({ open, guarded, near, far }: Targets): Promise<Attack[]> {
  return [
    ...hostAttacks(open),
    ...addressAttacks(open),
    ...bodyAttacks(open),
    ...tokenAttacks(guarded),
    ...(await roleAttacks(guarded)),
    ...proxyAttacks({ near, far }),
    ...(await queueAttacks(guarded)),
    ...(await derivedAttacks(guarded)),
    ...(await sessionAttacks(guarded)),
    ...(await detourAttacks(guarded)),
    ...(await hiddenAttacks(guarded)),
    ...sealedAttacks(guarded),
    ...(await escapeAttacks(guarded)),
  ];
}
