/** Sends a reply in chunks, no faster than the caller reads them. */

import type { ServerResponse } from 'node:http';
import type { Chunks } from './handler.ts';

/** A caller that reads nothing for this long is disconnected. */
const STALL_MS = 30_000;

export async function sendChunks(response: ServerResponse, chunks: Chunks): Promise<void> {
  for await (const chunk of chunks) {
    if (response.destroyed) return;
    if (chunk.length === 0 || response.write(chunk)) continue;
    if (!(await drained(response))) {
      response.destroy();
      return;
    }
  }
  response.end();
}

/** Resolves with `true` once the caller has read what was sent, with `false` if it did not in time. */
function drained(response: ServerResponse): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (result: boolean) => {
      clearTimeout(timer);
      response.off('drain', onDrain);
      response.off('close', onClose);
      resolve(result);
    };
    const onDrain = () => done(true);
    const onClose = () => done(false);
    const timer = setTimeout(() => done(false), STALL_MS);
    response.on('drain', onDrain);
    response.on('close', onClose);
    if (response.destroyed) done(false);
  });
}
