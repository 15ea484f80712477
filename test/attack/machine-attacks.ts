/**
 * Attacks of another user of the same machine, and of a job under `run-as`, on the files and processes of a server. They need root
 * to have a second user.
 */

import { spawnSync } from 'node:child_process';
import { listPids, readStat } from '../../src/worker/launcher/process-table.ts';
import type { Attack } from './attack.ts';
import { type JobScript, jobScripts, makeClosedFolder } from './job-scripts.ts';

const OTHER = 65_533;

/** `undefined` if another user can be played here, else why not. */
export function whyNoOtherUser(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'needs root on Linux';
  const { status } = asOther('true');
  return status === 0 ? undefined : 'setpriv does not work here';
}

function asOther(script: string): { status: number | null; stdout: string } {
  const words = [`--reuid=${OTHER}`, `--regid=${OTHER}`, '--clear-groups', 'sh', '-c', script];
  const { status, stdout } = spawnSync('setpriv', words, { encoding: 'utf8', timeout: 10_000 });
  return { status, stdout };
}

export interface Target {
  pid: number;
  /** The folder of its database and token. */
  folder: string;
  url: string;
}

type Grouped = JobScript & { group: string };

/** Attacks of another user. */
export function machineAttacks(target: Target): Attack[] {
  return scripts(target).map(({ group, name, script }) => ({
    group: `${group}, another user`,
    name,
    attempt: async () => (asOther(`${script} 2>/dev/null`).status === 0 ? 'it worked' : null),
  }));
}

/** What a job tries with its own folder, beyond what another user can. */
const OWN_FOLDER: readonly (readonly [name: string, script: string])[] = [
  ['lists the work folder', 'ls "$(dirname "$WORKRON_OUTPUT")/.." | grep -q .'],
  ['moves its folder', 'mv "$(dirname "$WORKRON_OUTPUT")" "$(dirname "$WORKRON_OUTPUT")/../moved"'],
  ['writes beside its folder', '[ -w "$(dirname "$WORKRON_OUTPUT")/.." ]'],
  ['has a variable of the server', "env | grep -qE '^WORKRON_(TOKEN|DB_URL|SECRETS_KEY|NOTIFY_SECRET)'"],
  [
    'becomes root by a program of root',
    'cp /bin/sh /tmp/workron-attack-sh && chmod 4755 /tmp/workron-attack-sh && chown root /tmp/workron-attack-sh',
  ],
];

/** The same as `machineAttacks`, and more, by jobs of the server itself. It runs commands as another user. */
export function jobAttacks(target: Target, token: string): Attack[] {
  const { pid, folder } = target;
  const closed = makeClosedFolder(folder);
  const entered = [folder, '/root', `/proc/${pid}/cwd`, `/proc/${pid}/root/.`];
  const launcher: JobScript[] = [
    ...jobScripts({ pid, closed }),
    ...OWN_FOLDER.map(([name, script]) => ({ name, script })),
    ...entered.map((cwd) => ({ name: `starts in ${cwd}`, script: 'true', cwd })),
  ];
  const all: Grouped[] = [...scripts(target), ...launcher.map((one) => ({ group: 'launcher', ...one }))];
  const attacks = all.map(({ group, name, script, ...place }) => ({
    group: `${group}, job with run-as`,
    name,
    attempt: () => endsAs(target, token, { command: `(${script}) >/dev/null 2>&1`, ...place }),
  }));
  const loop = {
    group: 'launcher, job with run-as',
    name: 'signals its launcher again and again while other jobs start',
    attempt: () => killAgainAndAgain(target, token),
  };
  return [...attacks, loop];
}

/** Repelled if the job fails. */
async function endsAs(target: Target, token: string, job: object): Promise<string | null> {
  const status = await run(target, token, job);
  return status === 'failed' ? null : `the job is ${status}`;
}

/** Runs a job and returns its status. */
export async function run({ url }: Pick<Target, 'url'>, token: string, job: object): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ max_attempts: 1, timeout: '20s', ...job });
  const submitted = await fetch(`${url}/jobs`, { method: 'POST', headers, body });
  const { id } = (await submitted.json()) as { id: string };
  const waited = await fetch(`${url}/jobs/${id}/wait?timeout=60s`, { headers });
  return ((await waited.json()) as { status: string }).status;
}

/** Its launchers: whoever else it starts ends at once. */
export function launchersOf(pid: number): number[] {
  return listPids().filter((each) => readStat(each)?.parent === pid && readStat(each)?.zombie === false);
}

async function killAgainAndAgain(target: Target, token: string): Promise<string | null> {
  const before = launchersOf(target.pid);
  const kill = `for pid in ${before.join(' ')}; do kill -KILL $pid; done`;
  const command = `i=0; while [ $i -lt 200000 ]; do ${kill} 2>/dev/null; i=$((i+1)); done; exit 1`;
  const killing = [run(target, token, { command }), run(target, token, { command })];
  for (let round = 0; round < 15; round += 1) {
    await Promise.all([0, 1].map(() => run(target, token, { command: 'true' })));
  }
  await Promise.all(killing);
  const after = launchersOf(target.pid);
  return before.length > 0 && before.every((pid) => after.includes(pid)) ? null : 'the launcher was killed';
}

function scripts({ pid, folder, url }: Target): Grouped[] {
  const files = ['jobs.db', 'jobs.db-wal', 'jobs.db-shm', 'keys', 'token'].flatMap((name) =>
    [
      ['reads', `cat ${folder}/${name}`],
      ['appends to', `echo x >> ${folder}/${name}`],
      ['replaces', `rm -f ${folder}/${name} && [ ! -e ${folder}/${name} ]`],
      ['links', `ln ${folder}/${name} /tmp/workron-attack-$$ && rm /tmp/workron-attack-$$`],
    ].map(([verb = '', script = '']) => ({ group: 'files', name: `${verb} ${name}`, script })),
  );
  const secret = ['environ', 'mem', 'maps', 'smaps', 'pagemap', 'auxv', 'io', 'syscall', 'stack'];
  const folders = ['cwd/.', 'root/.', 'fd/0', 'fdinfo', 'map_files', 'exe', `task/${pid}/environ`];
  const processes = [...secret, ...folders].map((name) => ({
    group: 'processes',
    name: `reads /proc/PID/${name}`,
    script: `head -c 1 /proc/${pid}/${name} 2>/dev/null | grep -q . || ls /proc/${pid}/${name}/ 2>/dev/null | grep -q .`,
  }));
  const signals = ['TERM', 'KILL', 'STOP', 'USR1'].map((name) => ({
    group: 'processes',
    name: `sends SIG${name}`,
    script: `kill -${name} ${pid}`,
  }));
  const entries = [
    ['enters its namespaces', `nsenter -t ${pid} -m -p true`],
    ['enters its root', `chroot /proc/${pid}/root true`],
    ['changes its limits', `prlimit --pid ${pid} --nofile=10:10`],
    ['changes its chance to be killed', `echo 1000 > /proc/${pid}/oom_score_adj`],
    ['traces it', `timeout 2 strace -p ${pid}; [ $? -eq 124 ]`],
  ].map(([name = '', script = '']) => ({ group: 'processes', name, script }));
  const requests = [
    ['lists jobs', `${url}/jobs`],
    ['reads metrics', `${url}/metrics`],
    ['submits a job', `-d '{"command":"id"}' -H 'content-type: application/json' ${url}/jobs`],
    ['makes a token', `-d '{"name":"me","role":"admin"}' -H 'content-type: application/json' ${url}/tokens`],
  ].map(([name = '', words = '']) => ({
    group: 'loopback port',
    name,
    script: `curl -sf -o /dev/null ${words}`,
  }));
  return [...files, ...processes, ...signals, ...entries, ...requests];
}
