/** Every route with tokens that have a history: rotated, revoked, with a name that was used before, here and after a restart. */

import assert from 'node:assert/strict';
import { ROLE_SCOPES } from '../../src/api/route.ts';
import { routes } from '../../src/api/routes.ts';
import { TOKEN_ROLES, type TokenRole } from '../../src/core/token.ts';
import { type Attack, asAdmin, refused, type Target, tokenOf } from './attack.ts';
import type { Ground } from './ground.ts';

interface Held {
  token: string;
  /** It is not valid any more: every route refuses it. */
  isOver: boolean;
}

async function change(target: Target, method: string, path: string, body?: object): Promise<string> {
  const { status, body: answer } = await target.call(method, path, body, asAdmin);
  assert.ok(status < 300, `${method} ${path}: ${status}`);
  return String(answer.token);
}
const revoke = (target: Target, name: string) => change(target, 'DELETE', `/tokens/${name}`);
const rotate = (target: Target, name: string, overlap: string) =>
  change(target, 'POST', `/tokens/${name}/rotate`, { overlap });

/** How a token of a role comes to its state. */
const STATES: Record<string, (target: Target, name: string, role: TokenRole) => Promise<Held>> = {
  'by a rotation': async (target, name, role) => {
    await tokenOf(target, { name, role });
    return { token: await rotate(target, name, '1h'), isOver: false };
  },
  'whose name an admin had': async (target, name, role) => {
    await tokenOf(target, { name, role: 'admin' });
    await revoke(target, name);
    return { token: await tokenOf(target, { name, role }), isOver: false };
  },
  'that a rotation has replaced': async (target, name, role) => {
    const token = await tokenOf(target, { name, role });
    await rotate(target, name, '0s');
    return { token, isOver: true };
  },
  'that was revoked': async (target, name, role) => {
    const token = await tokenOf(target, { name, role });
    await revoke(target, name);
    return { token, isOver: true };
  },
  'that was revoked, and its name given to an admin': async (target, name, role) => {
    const token = await tokenOf(target, { name, role });
    await revoke(target, name);
    await tokenOf(target, { name, role: 'admin' });
    return { token, isOver: true };
  },
};

/** The routes that must refuse a token. */
function refusing(role: TokenRole, isOver: boolean) {
  return Object.values(routes).filter((route) => {
    const { scope, forHolder } = route as { scope: string | null; forHolder?: boolean };
    if (scope === null) return false;
    if (isOver) return true;
    return !(ROLE_SCOPES[role] as readonly string[]).includes(scope) && !(forHolder && role === 'worker');
  });
}

export async function stateAttacks({ guarded, again }: Ground): Promise<Attack[]> {
  const held: (Held & { state: string; role: TokenRole })[] = [];
  for (const [place, [state, make]] of Object.entries(STATES).entries()) {
    for (const role of TOKEN_ROLES) {
      const made = await make(guarded, `state-${place}-${role}`, role);
      // What is over has no rights, whatever its role.
      if (!made.isOver || role === 'admin') held.push({ ...made, state, role });
    }
  }
  const restarted = await again?.();
  assert.ok(restarted !== undefined);
  return held.flatMap(({ token, isOver, state, role }) =>
    refusing(role, isOver).flatMap(({ method, path }) =>
      [guarded, restarted].map((target) => ({
        group: 'tokens with a history',
        name: `${method} ${path} with the token of a ${role} ${state}${target === guarded ? '' : ', after a restart'}`,
        attempt: () =>
          refused(
            target,
            {
              method,
              path: path.replaceAll(/:\w+/g, '1'),
              headers: [
                `host: 127.0.0.1:${target.port}`,
                'content-type: application/json',
                `authorization: Bearer ${token}`,
              ],
              body: method === 'GET' ? '' : '{}',
            },
            [isOver ? 401 : 403],
          ),
      })),
    ),
  );
}
