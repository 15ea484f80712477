/** Reports over HTTP that the worker of this launcher has ended, and its commands with it: its jobs can be given to others. */

import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../../ops/monotonic.ts';
import type { GoneMessage } from './frames.ts';

const ANSWER_MS = 3_000;
const PAUSE_MS = 300;
/** Without the report, the jobs go back when the lease ends. */
const GIVE_UP_MS = 20_000;

/** Tries the addresses in turn until one has answered. Never rejects. */
export async function reportGone({ urls, headers }: NonNullable<GoneMessage>): Promise<void> {
  const until = monotonicMs() + GIVE_UP_MS;
  while (monotonicMs() < until) {
    for (const url of urls) if (await isAnswered(url, headers)) return;
    await sleep(PAUSE_MS);
  }
}

/** A refusal is an answer too: the report would be refused again. */
async function isAnswered(url: string, headers: Readonly<Record<string, string>>): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const { status } = await fetch(url, { method: 'POST', headers, body: '{}', redirect: 'manual', signal });
    return status < 500 && status !== 429;
  } catch {
    return false;
  }
}
