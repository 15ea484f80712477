import { Client } from '../../../src/api/client.ts';
import { API_URL } from './place.ts';
import { sessionTransport } from './session.ts';

/** A client of the server that served this page. The browser adds the session's cookie, the transport its key. */
export const client = new Client({ url: API_URL, transport: sessionTransport });
