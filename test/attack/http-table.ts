/** All attacks over HTTP on one ground. */

import type { Make } from './attack.ts';
import { derivedAttacks, detourAttacks, sessionAttacks } from './caller-attacks.ts';
import { documentAttacks } from './document-attacks.ts';
import { endedAttacks } from './ended-attacks.ts';
import type { Ground } from './ground.ts';
import { escapeAttacks, hiddenAttacks, sealedAttacks } from './hidden-attacks.ts';
import { addressAttacks, bodyAttacks, hostAttacks, originAttacks, roleAttacks, tokenAttacks } from './http-attacks.ts';
import { forgedAttacks, proxyAttacks, queueAttacks } from './proxy-attacks.ts';
import { resultAttacks } from './result-attacks.ts';
import { smugglingAttacks } from './smuggling-attacks.ts';
import { stateAttacks } from './state-attacks.ts';

/** In groups, each made when it is its turn: tickets live for a minute. */
export function httpAttacks(ground: Ground): Make[] {
  const { open, guarded, proxies, signingIn } = ground;
  return [
    () => originAttacks(open),
    () => addressAttacks(open),
    () => bodyAttacks(open),
    () => tokenAttacks(guarded),
    () => roleAttacks(guarded),
    () => queueAttacks(guarded),
    () => detourAttacks(guarded),
    () => smugglingAttacks(ground),
    () => escapeAttacks(guarded),
    () => (proxies === undefined ? [] : proxyAttacks(proxies)),
    () => (signingIn === undefined ? [] : forgedAttacks(signingIn)),
    ...(ground.again === undefined ? [] : tokenAttacksOn(ground)),
  ];
}

/** Where the server itself knows callers, by their tokens. */
function tokenAttacksOn(ground: Ground): Make[] {
  const { open, guarded } = ground;
  return [
    () => hostAttacks(open),
    () => derivedAttacks(guarded),
    () => sessionAttacks(guarded),
    () => hiddenAttacks(guarded),
    () => sealedAttacks(guarded),
    () => resultAttacks(guarded),
    () => documentAttacks(open),
    () => stateAttacks(ground),
    () => endedAttacks(ground),
  ];
}
