import { Client } from '../../../src/api/client.ts';

/** The scheduler that served this page. The browser adds the session's cookie. */
export const client = new Client({ url: location.origin });
