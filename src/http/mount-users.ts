/** The users of an application in which the API is mounted, from its answer to the request until the handler has it. */

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { decode } from '../api/decode.ts';
import { label } from '../api/fields.ts';
import { TOKEN_ROLES } from '../core/token.ts';
import type { Principal } from './authenticate.ts';
import type { MountOptions, MountUser } from './mounted.ts';
import { userPrincipal } from './trusted-proxy.ts';

/** Carries the key of a user through an injected request. What a caller sends under this name is overwritten. */
export const USER_HEADER = 'x-workron-mount-user';

export class MountUsers {
  readonly #authorize: NonNullable<MountOptions['authorize']>;
  readonly #byRequest = new WeakMap<IncomingMessage, Principal>();
  readonly #byKey = new Map<string, Principal>();

  constructor(authorize: NonNullable<MountOptions['authorize']>) {
    this.#authorize = authorize;
  }

  /**
   * Asks the application about `asked`, the request as the application knows it, and remembers the answer for `request`. The two
   * differ if the body had to be made readable again.
   */
  async admit(asked: IncomingMessage, request: IncomingMessage): Promise<void> {
    const principal = principalFrom(await this.#authorize(asked));
    if (principal !== undefined) this.#byRequest.set(request, principal);
  }

  /** Asks the application. Returns the value of `USER_HEADER`; empty if it refuses. */
  async keyFor(request: Request): Promise<string> {
    const principal = principalFrom(await this.#authorize(request));
    if (principal === undefined) return '';
    const key = randomUUID();
    this.#byKey.set(key, principal);
    return key;
  }

  /** The user of a request; `undefined` if the application refused. */
  of(request: IncomingMessage): Principal | undefined {
    const key = String(request.headers[USER_HEADER] ?? '');
    const principal = this.#byRequest.get(request) ?? this.#byKey.get(key);
    this.#byKey.delete(key);
    return principal;
  }
}

function principalFrom(user: MountUser | null | undefined): Principal | undefined {
  if (user === null || user === undefined) return undefined;
  const { name, role, queues = null } = user;
  decode(label(128), name, '/name');
  if (!TOKEN_ROLES.includes(role)) throw new Error(`authorize: expected a role of ${TOKEN_ROLES.join(', ')}`);
  return userPrincipal({ name, role, queues });
}
