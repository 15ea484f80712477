/**
 * Logging in and out. The token is sent once; the server replies with a cookie that no script can read, and with a key that
 * belongs to this origin. A request needs both.
 */

import { fetchTransport } from '../../../src/api/fetch-transport.ts';
import { HttpClient, type Transport } from '../../../src/api/http-client.ts';
import { routes } from '../../../src/api/routes.ts';
import type { Session } from '../../../src/api/session.ts';
import { API_URL } from './place.ts';

const HEADER = 'x-workron-session';
/** All tabs of this origin share the key. */
const STORED = 'workron.session';
const LINK = /^#link=([\w-]+)$/;

/** The key of the session, if there is one. */
export function sessionHeaders(): Record<string, string> {
  const key = localStorage.getItem(STORED);
  return key === null ? {} : { [HEADER]: key };
}

/** Adds the key of the session to each request. */
export const sessionTransport: Transport = (url, request) => {
  return fetchTransport(url, { ...request, headers: { ...request.headers, ...sessionHeaders() } });
};

const http = new HttpClient({ url: API_URL, token: null, transport: sessionTransport });

/** `token`: a token, or the code of a link. With the key of an earlier session, its cookie is replaced. */
export async function logIn(token: string): Promise<void> {
  const { key } = await new HttpClient({ url: API_URL, token, transport: sessionTransport }).json(
    routes.openSession,
    {},
  );
  if (key !== null) localStorage.setItem(STORED, key);
}

/** Logs in by the link that was opened, if it is one, and takes its code out of the address. */
export async function logInByLink(): Promise<void> {
  const code = LINK.exec(location.hash)?.[1];
  if (code === undefined) return;
  history.replaceState(null, '', location.pathname + location.search);
  // A link that was used before leads to the page, which asks for a token unless there is a session.
  await logIn(code).catch(() => undefined);
}

export async function logOut(): Promise<void> {
  await http.json(routes.endSession, {});
  localStorage.removeItem(STORED);
}

export function readSession(): Promise<Session> {
  return http.json(routes.readSession, {});
}

/** Returns the address of a download. A link cannot send the key, so it carries a ticket, which allows it once. */
export async function downloadAddress(path: string, query: string): Promise<string> {
  if (localStorage.getItem(STORED) === null) return API_URL + path + query;
  const { ticket } = await http.json(routes.createTicket, { body: { path } });
  return `${API_URL}${path}${query === '' ? '?' : `${query}&`}ticket=${ticket}`;
}
