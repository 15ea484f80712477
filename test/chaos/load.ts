/**
 * Work for an installation: commands that detect overlaps themselves, alone and in gangs, with limits and rates; handlers that end their jobs in
 * transactions of their own; and a schedule.
 */

import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Installation, LEASE_MS } from './installation.ts';

const SCHEDULE = 'every-second';
/** Unfinished jobs that are kept in the installation. */
const OPEN_JOBS = 24;

/** The start or the end of an attempt, as its command wrote it. */
export interface Mark {
  jobId: string;
  attempt: number;
  what: 'start' | 'end';
  at: number;
}

export class Load {
  readonly #installation: Installation;
  readonly acknowledged = new Set<string>();
  /** Orders to be paid, each by a job. */
  readonly orders = new Map<string, string>();
  /** Jobs that are known to have ended. */
  readonly #ended = new Set<string>();

  constructor(installation: Installation) {
    this.#installation = installation;
  }

  /** Submits jobs until `signal` aborts. A submission that is not answered is sent again with the same key. */
  async run(random: () => number, signal: AbortSignal): Promise<void> {
    await this.#send('/schedules', {
      name: SCHEDULE,
      every: '1s',
      overlap: 'allow',
      job: { command: 'true', timeout: '1m' },
    });
    while (!signal.aborted) {
      if (this.#openCount > OPEN_JOBS) await this.#refresh();
      else await this.#submit(random);
      await sleep(150);
    }
  }

  /** Resolves once every acknowledged job has ended; with those that have not after `withinMs`. */
  async unfinished(withinMs: number): Promise<string[]> {
    const until = performance.now() + withinMs;
    while (performance.now() < until && this.#openCount > 0) {
      await this.#refresh();
      await sleep(500);
    }
    return [...this.acknowledged].filter((id) => !this.#ended.has(id));
  }

  async endSchedule(): Promise<void> {
    await this.#send(`/schedules/${SCHEDULE}/pause`, {});
  }

  /** The number of ticks, and of those that are missing or judged twice. */
  async ticks(): Promise<{ ticks: number; wrong: number }> {
    const instants: number[] = [];
    let wrong = 0;
    for (let cursor: string | null = ''; cursor !== null; ) {
      const after: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const page: TickPage = await this.#installation.ask(`/schedules/${SCHEDULE}/ticks?limit=200${after}`);
      for (const { scheduled_for: first, through, count = 1 } of page.items) {
        const from = Date.parse(first);
        const to = Date.parse(through ?? first);
        if (to !== from + (count - 1) * 1_000) wrong += 1;
        for (let at = from; at <= to; at += 1_000) instants.push(at);
      }
      cursor = page.next_cursor;
    }
    instants.sort((a, b) => a - b);
    for (let index = 1; index < instants.length; index += 1) {
      if ((instants[index] as number) - (instants[index - 1] as number) !== 1_000) wrong += 1;
    }
    return { ticks: instants.length, wrong };
  }

  marks(): Mark[] {
    return this.#lines('runs').map((line) => {
      const [jobId = '', attempt, what, at] = line.split(' ');
      return { jobId, attempt: Number(attempt), what: what as Mark['what'], at: Number(at) / 1e6 };
    });
  }

  /** Attempts that began while another one of the same job held its lock. */
  overlaps(): string[] {
    return this.#lines('overlaps');
  }

  get #openCount(): number {
    return this.acknowledged.size - this.#ended.size;
  }

  #lines(name: string): string[] {
    const file = join(this.#installation.folder, name);
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').filter(Boolean) : [];
  }

  async #submit(random: () => number): Promise<void> {
    if (random() < 0.2) return await this.#submitOrder(random);
    const { folder } = this.#installation;
    const rules = rulesFrom(random);
    const me = '$WORKRON_JOB_ID $WORKRON_ATTEMPT';
    // Some outlast the lease of a worker that is frozen while they run.
    const seconds = random() < 0.3 ? 2 * (LEASE_MS / 1_000) + random() * 10 : random() * 2;
    const command = [
      `exec 9>>"${folder}/lock.$WORKRON_JOB_ID"`,
      `flock -n 9 || echo "${me}" >>"${folder}/overlaps"`,
      // A key with room for n jobs is n locks.
      ...(rules.limits ?? []).flatMap(({ key, max }) => [
        `place=1; until exec 8>>"${folder}/limit.${key}.$place"; flock -n 8; do place=$((place + 1))`,
        `if [ $place -gt ${max} ]; then echo "${me} ${key}" >>"${folder}/overlaps"; break; fi; done`,
      ]),
      `echo "${me} start $(date +%s%N)" >>"${folder}/runs"`,
      `sleep ${seconds.toFixed(2)}`,
      `echo "${me} end $(date +%s%N)" >>"${folder}/runs"`,
    ].join('\n');
    const job = {
      command,
      max_attempts: 100,
      timeout: '2m',
      kill_grace: '1s',
      backoff: { type: 'fixed', base: '500ms' },
      ...rules,
    };
    const answer = await this.#send<{ id: string } | { items: { id: string }[] }>('/jobs', job);
    for (const { id } of 'items' in answer ? answer.items : [answer]) this.acknowledged.add(id);
  }

  async #submitOrder(random: () => number): Promise<void> {
    const order = randomUUID();
    const job = {
      handler: 'pay',
      input: { order, ms: Math.round(random() * 1_000) },
      max_attempts: 100,
      backoff: { type: 'fixed', base: '500ms' },
      limits: [{ key: `customer${Math.floor(random() * 2)}`, max: 1 }],
    };
    const { id } = await this.#send<{ id: string }>('/jobs', job);
    this.acknowledged.add(id);
    this.orders.set(id, order);
  }

  async #refresh(): Promise<void> {
    const open = [...this.acknowledged].filter((id) => !this.#ended.has(id));
    for (const id of open) {
      const job = await this.#installation.ask<{ status: string }>(`/jobs/${id}`).catch(() => undefined);
      if (job?.status === 'done') this.#ended.add(id);
    }
  }

  async #send<T>(path: string, body: unknown): Promise<T> {
    const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
    for (;;) {
      try {
        return await this.#installation.ask<T>(path, { method: 'POST', body: JSON.stringify(body), headers });
      } catch (error) {
        if (error instanceof Error && / answered 4\d\d/.test(error.message)) throw error;
        await sleep(500);
      }
    }
  }
}

interface Rules {
  limits?: { key: string; max: number }[];
  rates?: { key: string; limit: number; per: string }[];
  gang?: { size: number; timeout: string };
}

/** What keeps a job from starting at once. */
function rulesFrom(random: () => number): Rules {
  const kind = random();
  const key = `key${Math.floor(random() * 3)}`;
  if (kind < 0.3) return { limits: [{ key, max: key === 'key0' ? 1 : 2 }] };
  if (kind < 0.4) return { limits: [{ key, max: key === 'key0' ? 1 : 2 }], rates: [{ key, limit: 3, per: '5s' }] };
  if (kind < 0.5) return { rates: [{ key, limit: 3, per: '5s' }] };
  return kind < 0.65 ? { gang: { size: 2, timeout: '10s' } } : {};
}

interface TickPage {
  items: { scheduled_for: string; through?: string; count?: number }[];
  next_cursor: string | null;
}
