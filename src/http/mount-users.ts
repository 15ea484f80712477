/** The users of an application in which the API is mounted, from its answer to a request until the handler asks for it. */

import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import { decode } from '../api/decode.ts';
import { label } from '../api/fields.ts';
import { QUEUE_ROLES, TOKEN_ROLES } from '../core/token.ts';
import type { Principal } from './authenticate.ts';
import type { MountOptions, MountUser } from './mounted.ts';
import { userPrincipal } from './trusted-proxy.ts';

export class MountUsers {
  readonly #authorize: NonNullable<MountOptions['authorize']>;
  readonly #asking = new AsyncLocalStorage<Principal | undefined>();

  constructor(authorize: NonNullable<MountOptions['authorize']>) {
    this.#authorize = authorize;
  }

  /** Asks the application about a request as it knows it, and then answers it. `current` is the user in that. */
  async admit<T>(request: IncomingMessage | Request, answer: () => T): Promise<Awaited<T>> {
    const principal = principalFrom(await this.#authorize(request));
    // Awaited inside: an injected request is sent only when its promise is.
    return await this.#asking.run(principal, async () => await answer());
  }

  /** The user of the request that is being answered; `undefined` if the application refused. */
  current(): Principal | undefined {
    return this.#asking.getStore();
  }
}

function principalFrom(user: MountUser | null | undefined): Principal | undefined {
  if (user === null || user === undefined) return undefined;
  const { name, role, queues = null } = user;
  decode(label(128), name, '/name');
  if (!TOKEN_ROLES.includes(role)) throw new Error(`authorize: expected a role of ${TOKEN_ROLES.join(', ')}`);
  if (queues !== null && !(Array.isArray(queues) && QUEUE_ROLES.includes(role))) {
    throw new Error(`authorize: expected queues as a list, and only for the roles ${QUEUE_ROLES.join(' and ')}`);
  }
  return userPrincipal({ name, role, queues });
}
