/** Logging in and out. The token is sent once; the server replies with a cookie that no script can read. */

import { errorFromProblem } from '../../../src/api/problem.ts';
import type { Session } from '../../../src/api/session.ts';
import { API } from './place.ts';

export async function logIn(token: string): Promise<void> {
  await call('POST', { authorization: `Bearer ${token}` });
}

export async function logOut(): Promise<void> {
  await call('DELETE');
}

export async function readSession(): Promise<Session> {
  return (await (await call('GET')).json()) as Session;
}

async function call(method: string, headers: Record<string, string> = {}): Promise<Response> {
  const response = await fetch(`${API}/session`, { method, headers });
  if (response.ok) return response;
  throw errorFromProblem(response.status, await response.json().catch(() => null));
}
