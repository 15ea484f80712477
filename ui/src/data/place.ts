/**
 * The paths of the page and the API, derived from the address of the page's own code: `/ui/`, or `/workron/ui/` in a
 * server that has mounted it there.
 */

import { PAGE_PATH } from '../../../src/api/routes.ts';

const { pathname } = new URL(import.meta.url);
const root = pathname.slice(0, pathname.lastIndexOf(`${PAGE_PATH}/`));

/** The path of the page, without a slash at its end. */
export const PAGE = root + PAGE_PATH;
/** The path of the API; empty if it is at the root of its host. */
export const API = root;
/** The full URL of the API, for commands that are copied. */
export const API_URL = location.origin + root;
