/** What is done to an installation. Each fault ends what it began. */

import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Installation, LEASE_MS, type Member } from './installation.ts';

/** What the faults have measured, for the report. */
export interface Measured {
  /** When each life of a worker was killed, by its name. */
  killedAt: Map<string, number>;
  /** How long each duty of a killed leader was without a leader, in milliseconds. */
  takeovers: number[];
}

export interface Fault {
  name: string;
  /** False if this installation cannot have it. */
  applies(installation: Installation): boolean;
  /** Resolves with false if nothing was done, because all members that it could take were taken or away. */
  run(installation: Installation, measured: Measured, random: () => number): Promise<boolean>;
}

const between = (random: () => number, least: number, most: number) => least + random() * (most - least);

/** Takes a member that runs and that no other fault has taken. Resolves with false if there is none. */
async function withOne(
  members: readonly Member[],
  random: () => number,
  body: (member: Member) => Promise<void>,
): Promise<boolean> {
  const free = members.filter(({ busy, process }) => !busy && process !== undefined);
  const member = free[Math.floor(random() * free.length)];
  // One of a kind is left alone, so that work goes on.
  if (member === undefined || (members.length > 1 && free.length < 2)) return false;
  member.busy = true;
  try {
    await body(member);
    return true;
  } finally {
    member.busy = false;
  }
}

async function freeze(member: Member, ms: number): Promise<void> {
  const { process } = member;
  process?.signal('SIGSTOP');
  await sleep(ms);
  process?.signal('SIGCONT');
}

/** One fault of the database at a time: it cannot be started on a full disk, for instance. */
async function withDatabase(
  installation: Installation,
  body: (installation: Installation) => Promise<void>,
): Promise<boolean> {
  if (installation.databaseBusy) return false;
  installation.databaseBusy = true;
  try {
    await body(installation);
    return true;
  } finally {
    installation.databaseBusy = false;
  }
}

/** Writes until no space is left. */
function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    const block = Buffer.alloc(1024 * 1024);
    for (;;) writeSync(file, block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}

interface Cluster {
  instances: { id: string; pid: number }[];
  duties: { duty: string; leader: string | null; term: number }[];
}

/** Kills the scheduler that leads most duties, and measures how long the first of them has no leader. */
async function killScheduler(installation: Installation, measured: Measured, member: Member): Promise<void> {
  const before = await installation.ask<Cluster>('/cluster').catch(() => undefined);
  const leader = before?.instances.find(({ pid }) => pid === member.process?.pid)?.id;
  const duty = before?.duties.find((one) => one.leader === leader && leader !== undefined);
  await member.kill();
  const killedAt = performance.now();
  const restarted = sleep(2_000).then(() => member.start());
  if (duty !== undefined) await nextTerm(installation, duty, killedAt).then((ms) => measured.takeovers.push(ms));
  await restarted;
}

/** Resolves with the time from `killedAt` until the duty has a new leader. */
async function nextTerm(
  installation: Installation,
  { duty, term }: Cluster['duties'][number],
  killedAt: number,
): Promise<number> {
  for (;;) {
    const cluster = await installation.ask<Cluster>('/cluster').catch(() => undefined);
    const now = cluster?.duties.find((one) => one.duty === duty);
    if (now !== undefined && now.term > term && now.leader !== null) return performance.now() - killedAt;
    await sleep(50);
  }
}

const always = () => true;
const isShared = ({ postgres }: Installation) => postgres !== undefined;

export const FAULTS: Fault[] = [
  {
    name: 'worker killed (SIGKILL)',
    applies: always,
    run: ({ workers }, measured, random) =>
      withOne(workers, random, async (member) => {
        measured.killedAt.set(member.lifeName, Date.now());
        await member.kill();
        await sleep(between(random, 500, 5_000));
        await member.start();
      }),
  },
  {
    name: 'worker frozen past its lease (SIGSTOP)',
    applies: always,
    run: ({ workers }, _, random) =>
      withOne(workers, random, (member) => freeze(member, between(random, 1.1, 1.8) * LEASE_MS)),
  },
  {
    name: 'scheduler killed (SIGKILL)',
    applies: always,
    run: (installation, measured, random) =>
      withOne(installation.schedulers, random, (member) => killScheduler(installation, measured, member)),
  },
  {
    name: 'scheduler frozen past its term (SIGSTOP)',
    applies: isShared,
    run: ({ schedulers }, _, random) =>
      withOne(schedulers, random, (member) => freeze(member, between(random, 6_000, 15_000))),
  },
  {
    name: 'network cut',
    applies: always,
    async run({ proxies }, _, random) {
      const proxy = proxies[Math.floor(random() * proxies.length)];
      proxy?.freeze();
      await sleep(between(random, 1_000, 1.5 * LEASE_MS));
      proxy?.thaw();
      return proxy !== undefined;
    },
  },
  {
    name: 'network lossy (connections reset)',
    applies: always,
    async run({ proxies }, _, random) {
      for (let times = 0; times < 20; times += 1) {
        proxies[Math.floor(random() * proxies.length)]?.reset();
        await sleep(between(random, 50, 500));
      }
      return proxies.length > 0;
    },
  },
  {
    name: 'PostgreSQL crashed (immediate stop)',
    applies: isShared,
    run: (installation, _, random) =>
      withDatabase(installation, async ({ postgres }) => {
        await postgres?.halt('immediate');
        await sleep(between(random, 100, LEASE_MS));
        await postgres?.resume();
      }),
  },
  {
    name: "PostgreSQL's clock set forward past the lease",
    applies: isShared,
    run: (installation) =>
      withDatabase(installation, async () => {
        const byMs = 1.5 * LEASE_MS;
        await installation.query(`update workron.meta set clock_offset_ms = clock_offset_ms + ${byMs}`);
        await sleep(LEASE_MS);
      }),
  },
  {
    name: "clock of PostgreSQL's machine set and set back (libfaketime)",
    applies: ({ clockFile }) => clockFile !== null,
    run: (installation, _, random) =>
      withDatabase(installation, async () => {
        installation.setClock(random() < 0.5 ? `+${(1.5 * LEASE_MS) / 1_000}` : `-${(1.5 * LEASE_MS) / 1_000}`);
        await sleep(between(random, 0.5, 1.5) * LEASE_MS);
        installation.setClock('+0');
      }),
  },
  {
    name: 'disk full',
    applies: ({ disk }) => disk !== null,
    run: (installation, _, random) =>
      withDatabase(installation, async ({ disk, postgres }) => {
        const filler = join(disk as string, 'filler');
        fill(filler);
        await sleep(between(random, 1_000, 8_000));
        rmSync(filler, { force: true });
        // PostgreSQL ends if it cannot write its log; somebody starts it again once there is space.
        if (postgres?.isRunning() === false) await postgres.resume();
      }),
  },
];
