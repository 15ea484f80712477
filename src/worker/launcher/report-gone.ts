/** Reports over HTTP that the worker of this launcher has ended, and its commands with it: its jobs can be given to others. */

import { setTimeout as sleep } from 'node:timers/promises';
import { requestTarget } from '../../core/socket-address.ts';
import { monotonicMs } from '../../ops/monotonic.ts';
import { isSafeSocket } from '../../ops/private-socket.ts';
import type { GoneMessage } from './frames.ts';

const ANSWER_MS = 3_000;
const PAUSE_MS = 300;
/** Without the report, the jobs go back when the lease ends. */
const GIVE_UP_MS = 20_000;

/** Tries the addresses in turn until one has answered. Never rejects. */
export async function reportGone(message: NonNullable<GoneMessage>): Promise<void> {
  const until = monotonicMs() + GIVE_UP_MS;
  while (monotonicMs() < until) {
    for (const url of message.urls) if (await isAnswered(url, message)) return;
    await sleep(PAUSE_MS);
  }
}

/** A refusal is an answer too: the report would be refused again. */
async function isAnswered(address: string, { headers, ca }: NonNullable<GoneMessage>): Promise<boolean> {
  const { url, socketPath } = requestTarget(address);
  // Loaded on demand: few launchers report anything. fetch cannot be given an authority.
  const { request } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http');
  const place = { ...(socketPath === undefined ? {} : { socketPath }), ...(ca === null ? {} : { ca }) };
  const options = { method: 'POST', headers, signal: AbortSignal.timeout(ANSWER_MS), ...place };
  return await new Promise((resolve) => {
    if (socketPath !== undefined && !isSafeSocket(socketPath)) return resolve(false);
    const sent = request(url, options, ({ statusCode = 500 }) => resolve(statusCode < 500 && statusCode !== 429));
    sent.on('error', () => resolve(false));
    sent.end('{}');
  });
}
