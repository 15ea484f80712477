/** Attacks of another user of the same machine on the files and processes of a server. They need root to have a second user. */

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

export function machineAttacks({ pid, folder, url }: Target): Attack[] {
  const files = ['jobs.db', 'jobs.db-wal', 'jobs.db-shm', 'keys', 'token'].flatMap((name) =>
    [
      ['reads', `cat ${folder}/${name}`],
      ['appends to', `echo x >> ${folder}/${name}`],
      ['replaces', `rm -f ${folder}/${name} && [ ! -e ${folder}/${name} ]`],
      ['links', `ln ${folder}/${name} /tmp/workron-attack-$$ && rm /tmp/workron-attack-$$`],
    ].map(([verb = '', script = '']) => ({ group: 'files of another user', name: `${verb} ${name}`, script })),
  );
  const processes = ['environ', 'mem', 'maps', 'cwd/.', 'fd/0', 'exe', 'stack'].map((name) => ({
    group: 'processes of another user',
    name: `reads /proc/PID/${name}`,
    script: `head -c 1 /proc/${pid}/${name} 2>/dev/null | grep -q . || ls /proc/${pid}/${name}/ 2>/dev/null | grep -q .`,
  }));
  const signals = ['TERM', 'KILL', 'STOP', 'USR1'].map((name) => ({
    group: 'processes of another user',
    name: `sends SIG${name}`,
    script: `kill -${name} ${pid}`,
  }));
  const requests = [
    ['lists jobs', `${url}/jobs`],
    ['reads metrics', `${url}/metrics`],
    ['submits a job', `-d '{"command":"id"}' -H 'content-type: application/json' ${url}/jobs`],
    ['makes a token', `-d '{"name":"me","role":"admin"}' -H 'content-type: application/json' ${url}/tokens`],
  ].map(([name = '', words = '']) => ({
    group: 'loopback port, another user',
    name,
    script: `curl -sf -o /dev/null ${words}`,
  }));
  return [...files, ...processes, ...signals, ...requests].map(({ group, name, script }) => ({
    group,
    name,
    attempt: async () => {
      const { status } = asOther(`${script} 2>/dev/null`);
      return status === 0 ? 'it worked' : null;
    },
  }));
}
