/** Settings about work: workers, leases and shutdown. */

import { availableParallelism } from 'node:os';
import {
  anyText,
  countFrom,
  durationFrom,
  durationOrOff,
  listOf,
  names,
  oneOf,
  quantities,
  serverUrls,
} from './parse.ts';
import { inGroup, PROCESSES, ROLES, type Role, SERVERS, setting, WORKERS } from './setting.ts';

const defaultSlots = Math.max(4, availableParallelism());

export const workSettings = inGroup('Work', {
  role: setting<readonly Role[]>({
    name: 'role',
    value: 'ROLE,…',
    default: ROLES,
    defaultText: 'api,scheduler,worker',
    parse: listOf(oneOf(ROLES)),
    sentence: 'What this process does: any combination of api, scheduler and worker.',
    commands: ['up'],
  }),
  workers: setting({
    name: 'workers',
    value: 'NUMBER',
    default: defaultSlots,
    defaultText: 'number of cores, at least 4',
    parse: countFrom(1, 10_000),
    sentence: 'Slots: the number of jobs that this process runs at the same time.',
    commands: WORKERS,
  }),
  queues: setting<readonly string[] | null>({
    name: 'queues',
    value: 'NAME,…',
    default: null,
    defaultText: 'all',
    parse: names,
    sentence: 'Queues that this worker serves.',
    commands: WORKERS,
  }),
  handlers: setting<readonly string[]>({
    name: 'handlers',
    value: 'FILE,…',
    default: [],
    defaultText: 'none',
    parse: listOf(anyText),
    sentence:
      'Modules (.ts or .js) whose exported handlers this worker runs in addition to commands. May be given more than once.',
    commands: WORKERS,
  }),
  tags: setting<readonly string[]>({
    name: 'tags',
    value: 'TAG,…',
    default: [],
    defaultText: 'none',
    parse: names,
    sentence: 'Tags of this worker. Jobs select workers by tags with `requires`.',
    commands: WORKERS,
  }),
  resources: setting<Readonly<Record<string, number>>>({
    name: 'resources',
    value: 'NAME=AMOUNT,…',
    default: {},
    defaultText: 'cpu and memory_mb of the machine',
    parse: quantities,
    sentence:
      'Resources that this worker offers to jobs that ask for them, such as gpu=2,memory_mb=4096. cpu and memory_mb are detected unless they are given.',
    commands: WORKERS,
  }),
  workerName: setting<string | null>({
    name: 'worker-name',
    value: 'NAME',
    default: null,
    defaultText: 'host and pid',
    parse: anyText,
    sentence: 'Name under which this worker is listed.',
    commands: WORKERS,
  }),
  schedulerUrls: setting<readonly string[]>({
    name: 'scheduler',
    value: 'URL,…',
    default: [],
    defaultText: 'none',
    parse: serverUrls,
    sentence:
      'Schedulers to work for over HTTP: http://…, https://… or unix:PATH of a socket. If one cannot be reached, the worker turns to the next.',
    commands: ['worker'],
  }),
  pidNamespace: setting<'auto' | 'off'>({
    name: 'pid-namespace',
    value: 'auto|off',
    default: 'auto',
    defaultText: 'auto',
    parse: oneOf(['auto', 'off'] as const),
    sentence:
      'Run commands in a PID namespace (one per worker) if the machine allows it, so that none of their processes can outlive them. Off: for jobs that must signal other processes of the machine.',
    commands: WORKERS,
  }),
  runAs: setting<string | null>({
    name: 'run-as',
    value: 'USER',
    default: null,
    defaultText: 'the user of the worker',
    parse: anyText,
    sentence:
      'User that commands run as, with its groups, in its home folder. Only a worker that runs as root can do that. Handlers run in the worker itself.',
    commands: WORKERS,
  }),
  commandNewPrivileges: setting<'auto' | 'allow' | 'deny'>({
    name: 'command-new-privileges',
    value: 'auto|allow|deny',
    default: 'auto',
    defaultText: 'auto',
    parse: oneOf(['auto', 'allow', 'deny'] as const),
    sentence:
      'Whether commands can gain rights by programs such as sudo and su (`no_new_privs` of Linux). Auto: not with `run-as`.',
    commands: WORKERS,
  }),
  commandOpenFiles: setting<number | null>({
    name: 'command-open-files',
    value: 'NUMBER',
    default: null,
    defaultText: 'that of the worker',
    parse: countFrom(16, 1_048_576),
    sentence: 'The most files that each process of a command may have open.',
    commands: WORKERS,
  }),
  commandCpuTimeMs: setting<number | null>({
    name: 'command-cpu-time',
    value: 'DURATION',
    default: null,
    defaultText: 'unlimited',
    parse: durationFrom(1_000),
    sentence:
      'Processor time that each process of a command may use, in whole seconds. One that uses more gets SIGXCPU, and SIGKILL a second later.',
    commands: WORKERS,
  }),
});

export const leaseSettings = inGroup('Leases and shutdown', {
  leaseMs: setting({
    name: 'lease',
    value: 'DURATION',
    default: 30_000,
    defaultText: '30s',
    parse: durationFrom(1_000),
    sentence: "Lease duration: time without heartbeats before a worker's jobs are reassigned.",
    commands: PROCESSES,
  }),
  heartbeatMs: setting({
    name: 'heartbeat',
    value: 'DURATION',
    default: 5_000,
    defaultText: '5s',
    parse: durationFrom(100),
    sentence: 'How often a worker renews its lease. At most half of the lease.',
    commands: PROCESSES,
  }),
  reapEveryMs: setting({
    name: 'reap-every',
    value: 'DURATION',
    default: 10_000,
    defaultText: '10s',
    parse: durationFrom(100),
    sentence: 'How often the scheduler looks for the jobs of lost workers.',
    commands: SERVERS,
  }),
  drainTimeoutMs: setting<number | null>({
    name: 'drain-timeout',
    value: 'DURATION|off',
    default: null,
    defaultText: 'off',
    parse: durationOrOff,
    sentence:
      'On shutdown, how long running jobs may go on before they are stopped and returned to their queue. Off: until they end.',
    commands: WORKERS,
  }),
});
