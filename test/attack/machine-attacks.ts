/**
 * Attacks of another user of the same machine, and of a job under `run-as`, on the files and processes of a server. They need root
 * to have a second user.
 */

import { spawnSync } from 'node:child_process';
import type { Attack } from './attack.ts';

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

interface Target {
  pid: number;
  /** The folder of its database and token. */
  folder: string;
  url: string;
}

/** Attacks of another user. */
export function machineAttacks(target: Target): Attack[] {
  return scripts(target).map(({ group, name, script }) => ({
    group: `${group}, another user`,
    name,
    attempt: async () => (asOther(`${script} 2>/dev/null`).status === 0 ? 'it worked' : null),
  }));
}

/** The same, and more, by jobs of the server itself. It runs commands as another user. */
export function jobAttacks(target: Target, token: string): Attack[] {
  const launcher = [
    ['signals its launcher', 'kill -KILL $PPID'],
    ['reads the memory of its launcher', 'head -c 1 /proc/$PPID/mem'],
    ['opens the pipe to the worker', 'echo x > /proc/$PPID/fd/1'],
    ['lists the work folder', 'ls "$(dirname "$WORKRON_OUTPUT")/.." | grep -q .'],
    ['moves its folder', 'mv "$(dirname "$WORKRON_OUTPUT")" "$(dirname "$WORKRON_OUTPUT")/../moved"'],
    ['becomes root by sudo', 'sudo -n true'],
    [
      'becomes root by a program of root',
      'cp /bin/sh /tmp/workron-attack-sh && chmod 4755 /tmp/workron-attack-sh && chown root /tmp/workron-attack-sh',
    ],
    ['raises its rights', 'setpriv --reuid=0 true'],
    ['mounts', 'mount -t tmpfs none /mnt'],
    ['is root', '[ "$(id -u)" = 0 ]'],
    ['has the group of root', "id -G | tr ' ' '\\n' | grep -qx 0"],
    ['may gain rights', "grep -q '^NoNewPrivs:.*0' /proc/self/status"],
    ['has a capability', "grep -qE '^Cap(Inh|Prm|Eff|Amb):.*[1-9a-f]' /proc/self/status"],
    ['inherits a descriptor', 'ls /proc/$$/fd | grep -qvxE "0|1|2"'],
    ['reads the descriptors of its launcher', 'ls /proc/$PPID/fd | grep -q .'],
    ['writes beside its folder', '[ -w "$(dirname "$WORKRON_OUTPUT")/.." ]'],
    ['has a variable of the server', "env | grep -qE '^WORKRON_(TOKEN|DB_URL|SECRETS_KEY|NOTIFY_SECRET)'"],
    ['traces its launcher', 'timeout 2 strace -p $PPID; [ $? -eq 124 ]'],
  ].map(([name = '', script = '']) => ({ group: 'launcher', name, script }));
  return [...scripts(target), ...launcher].map(({ group, name, script }) => ({
    group: `${group}, job with run-as`,
    name,
    attempt: async () => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ command: `(${script}) >/dev/null 2>&1`, max_attempts: 1, timeout: '10s' });
      const submitted = await fetch(`${target.url}/jobs`, { method: 'POST', headers, body });
      const { id } = (await submitted.json()) as { id: string };
      const waited = await fetch(`${target.url}/jobs/${id}/wait?timeout=30s`, { headers });
      const { status } = (await waited.json()) as { status: string };
      return status === 'failed' ? null : `the job is ${status}`;
    },
  }));
}

function scripts({ pid, folder, url }: Target): { group: string; name: string; script: string }[] {
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
