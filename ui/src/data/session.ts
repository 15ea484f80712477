/** Logging in and out. The token is sent once; the server replies with a cookie that no script can read. */

import { fetchTransport } from '../../../src/api/fetch-transport.ts';
import { HttpClient } from '../../../src/api/http-client.ts';
import { routes } from '../../../src/api/routes.ts';
import type { Session } from '../../../src/api/session.ts';
import { API_URL } from './place.ts';

const http = new HttpClient({ url: API_URL, token: null, transport: fetchTransport });

export async function logIn(token: string): Promise<void> {
  await new HttpClient({ url: API_URL, token, transport: fetchTransport }).json(routes.openSession, {});
}

export async function logOut(): Promise<void> {
  await http.json(routes.endSession, {});
}

export function readSession(): Promise<Session> {
  return http.json(routes.readSession, {});
}
