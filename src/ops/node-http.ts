/**
 * node:http and node:https without an ES import, which would read all their exports and so load Node's `fetch`: that
 * takes longer than most CLI commands run.
 */

import type * as Https from 'node:https';

export const http = process.getBuiltinModule('node:http');

/** Loaded on demand, because TLS is slow to load. */
export function https(): typeof Https {
  return process.getBuiltinModule('node:https');
}
