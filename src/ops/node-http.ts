/**
 * node:http and node:https, without what an ES import of them costs: it reads all their names, those of WebSocket too,
 * and so loads Node's whole `fetch`, which takes longer than most commands run.
 */

import type * as Https from 'node:https';

export const http = process.getBuiltinModule('node:http');

/** Loaded when an address asks for it, as TLS is not small either. */
export function https(): typeof Https {
  return process.getBuiltinModule('node:https');
}
