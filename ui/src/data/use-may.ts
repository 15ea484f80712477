/** What the user may do, so that a screen offers nothing that the server would refuse. */

import { useQuery } from '@tanstack/react-query';
import type { Scope } from '../../../src/api/route.ts';
import type { Session } from '../../../src/api/session.ts';
import { readSession } from './session.ts';

/** The session; `undefined` until it is known. */
export function useSession(): Session | undefined {
  return useQuery({ queryKey: ['session'], queryFn: readSession, staleTime: Number.POSITIVE_INFINITY }).data;
}

/** Whether the user may do what needs this scope; with queues: also to jobs of these queues. */
export type MayDo = (scope: Scope, ...queues: readonly string[]) => boolean;

/** Nothing is allowed until the session is known. */
export function useMay(): MayDo {
  const session = useSession();
  return (scope, ...queues) => {
    if (session === undefined || !session.scopes.includes(scope)) return false;
    const { queues: allowed } = session;
    return allowed === null || queues.every((queue) => allowed.includes(queue));
  };
}
