import { Client } from '../../../src/api/client.ts';
import { API_URL } from './place.ts';

/** A client of the server that served this page. The browser adds the session's cookie. */
export const client = new Client({ url: API_URL });
