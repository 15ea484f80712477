/**
 * Where the page lives, by the address of its own code: at `/ui/`, or at `/workron/ui/` in a server that has mounted it
 * there. Its screens are below, the API is beside it.
 */

import { PAGE_PATH } from '../../../src/api/routes.ts';

const { pathname } = new URL(import.meta.url);
const root = pathname.slice(0, pathname.lastIndexOf(`${PAGE_PATH}/`));

/** Without a slash at its end. */
export const PAGE = root + PAGE_PATH;
/** The path of the API; empty where it is at the root of its host. */
export const API = root;
/** The API as others reach it. */
export const API_URL = location.origin + root;
