/**
 * Every setting there is, once: flags, environment, file, `--help` and docs/configuration.md all come from this table.
 */

import { availableParallelism } from 'node:os';
import { LOG_LEVELS, type LogLevel } from '../log-level.ts';
import {
  anyText,
  countFrom,
  durationFrom,
  durationOrOff,
  httpUrl,
  httpUrls,
  identifier,
  jsonList,
  listOf,
  names,
  network,
  oneOf,
  port,
  quantities,
  secret,
} from './parse.ts';

/** The commands that take settings; `client` stands for all that talk to a running Workron. */
export const SETTING_COMMANDS = ['up', 'scheduler', 'worker', 'migrate', 'backup', 'client'] as const;
export type SettingCommand = (typeof SETTING_COMMANDS)[number];

export const ROLES = ['api', 'scheduler', 'worker'] as const;
export type Role = (typeof ROLES)[number];

export const DB_DRIVERS = ['memory', 'sqlite', 'postgres'] as const;

/** One setting. Its flag is `--name`, its variable `WORKRON_NAME`, its key in the file `name`. */
export interface Setting<T> {
  name: string;
  group: string;
  /** What to write after the flag. */
  value: string;
  default: T;
  /** The default in words, where the value itself does not say it. */
  defaultText: string;
  /** Throws with what was expected. */
  parse(text: string): T;
  sentence: string;
  commands: readonly SettingCommand[];
  /** A well-known variable that is used when nothing else sets it. */
  fallback?: string;
}

const SERVERS = ['up', 'scheduler'] as const;
const WORKERS = ['up', 'worker'] as const;
const PROCESSES = ['up', 'scheduler', 'worker'] as const;
const DATABASE = ['up', 'scheduler', 'worker', 'migrate'] as const;

function setting<T>(definition: Setting<T>): Setting<T> {
  return definition;
}

const defaultSlots = Math.max(4, availableParallelism());

export const SETTINGS = {
  host: setting({
    name: 'host',
    group: 'Listening and access',
    value: 'ADDRESS',
    default: '127.0.0.1',
    defaultText: '127.0.0.1',
    parse: anyText,
    sentence: 'Address to listen on. Anything but loopback needs a token.',
    commands: SERVERS,
  }),
  port: setting({
    name: 'port',
    group: 'Listening and access',
    value: 'NUMBER',
    default: 8080,
    defaultText: '8080',
    parse: port,
    sentence: 'Port to listen on; 0 takes a free one.',
    commands: SERVERS,
    fallback: 'PORT',
  }),
  url: setting({
    name: 'url',
    group: 'Listening and access',
    value: 'URL',
    default: 'http://127.0.0.1:8080',
    defaultText: 'http://127.0.0.1:8080',
    parse: httpUrl,
    sentence: 'Where the Workron to talk to listens.',
    commands: ['client'],
  }),
  token: setting<string | null>({
    name: 'token',
    group: 'Listening and access',
    value: 'TOKEN',
    default: null,
    defaultText: 'none',
    parse: secret,
    sentence: 'Secret that every request must carry. Prefer the variable or token-file: flags are seen by other users.',
    commands: ['up', 'scheduler', 'worker', 'client'],
  }),
  tokenFile: setting<string | null>({
    name: 'token-file',
    group: 'Listening and access',
    value: 'FILE',
    default: null,
    defaultText: 'none',
    parse: anyText,
    sentence: 'File that holds the token, used when no token is given.',
    commands: ['up', 'scheduler', 'worker', 'client'],
  }),
  allowedHosts: setting<readonly string[]>({
    name: 'allowed-host',
    group: 'Listening and access',
    value: 'NAME,…',
    default: [],
    defaultText: 'none',
    parse: listOf(anyText),
    sentence: 'Further Host names that requests without a token may use; may be given more than once.',
    commands: SERVERS,
  }),
  dbUrl: setting<string | null>({
    name: 'db-url',
    group: 'Store',
    value: 'URL',
    default: null,
    defaultText: 'sqlite:./workron.db',
    parse: anyText,
    sentence: 'Where the jobs are kept: postgres://…, sqlite:FILE (or just a path), or memory:.',
    commands: [...DATABASE, 'backup'],
    fallback: 'DATABASE_URL',
  }),
  dbDriver: setting<(typeof DB_DRIVERS)[number] | null>({
    name: 'db-driver',
    group: 'Store',
    value: 'DRIVER',
    default: null,
    defaultText: 'follows from db-url',
    parse: oneOf(DB_DRIVERS),
    sentence: 'memory, sqlite or postgres. Needed only without a db-url.',
    commands: DATABASE,
  }),
  dbDirectUrl: setting<string | null>({
    name: 'db-direct-url',
    group: 'Store',
    value: 'URL',
    default: null,
    defaultText: 'db-url',
    parse: anyText,
    sentence: 'A way to PostgreSQL around a transaction pooler, for session locks and notifications.',
    commands: DATABASE,
  }),
  dbSchema: setting({
    name: 'db-schema',
    group: 'Store',
    value: 'NAME',
    default: 'workron',
    defaultText: 'workron',
    parse: identifier,
    sentence: 'PostgreSQL schema of this installation. Two installations share a database by two schemas.',
    commands: DATABASE,
  }),
  dbPool: setting({
    name: 'db-pool',
    group: 'Store',
    value: 'NUMBER',
    default: 10,
    defaultText: '10',
    parse: countFrom(1, 1_000),
    sentence: 'PostgreSQL connections of this process for ordinary work; a few more are held for heartbeats and locks.',
    commands: DATABASE,
  }),
  role: setting<readonly Role[]>({
    name: 'role',
    group: 'Work',
    value: 'ROLE,…',
    default: ROLES,
    defaultText: 'api,scheduler,worker',
    parse: listOf(oneOf(ROLES)),
    sentence: 'What this process does: any mix of api, scheduler and worker.',
    commands: ['up'],
  }),
  workers: setting({
    name: 'workers',
    group: 'Work',
    value: 'NUMBER',
    default: defaultSlots,
    defaultText: 'number of cores, at least 4',
    parse: countFrom(1, 10_000),
    sentence: 'Slots: how many jobs this process runs at once.',
    commands: WORKERS,
  }),
  queues: setting<readonly string[] | null>({
    name: 'queues',
    group: 'Work',
    value: 'NAME,…',
    default: null,
    defaultText: 'all',
    parse: names,
    sentence: 'Queues that this worker serves.',
    commands: WORKERS,
  }),
  handlers: setting<readonly string[]>({
    name: 'handlers',
    group: 'Work',
    value: 'FILE,…',
    default: [],
    defaultText: 'none',
    parse: listOf(anyText),
    sentence: 'Modules (.ts or .js) whose exported jobs this worker runs beside commands; may be given more than once.',
    commands: WORKERS,
  }),
  tags: setting<readonly string[]>({
    name: 'tags',
    group: 'Work',
    value: 'TAG,…',
    default: [],
    defaultText: 'none',
    parse: names,
    sentence: 'What this worker is; jobs ask for tags by `requires`.',
    commands: WORKERS,
  }),
  resources: setting<Readonly<Record<string, number>>>({
    name: 'resources',
    group: 'Work',
    value: 'NAME=AMOUNT,…',
    default: {},
    defaultText: 'none',
    parse: quantities,
    sentence: 'What this worker has to give to jobs that ask for it, such as memory_mb=4096,gpu=1.',
    commands: WORKERS,
  }),
  workerName: setting<string | null>({
    name: 'worker-name',
    group: 'Work',
    value: 'NAME',
    default: null,
    defaultText: 'host and pid',
    parse: anyText,
    sentence: 'How this worker is shown to people.',
    commands: WORKERS,
  }),
  schedulerUrls: setting<readonly string[]>({
    name: 'scheduler',
    group: 'Work',
    value: 'URL,…',
    default: [],
    defaultText: 'none',
    parse: httpUrls,
    sentence: 'Schedulers to work for over HTTP. When one is away the worker turns to the next.',
    commands: ['worker'],
  }),
  pidNamespace: setting<'auto' | 'off'>({
    name: 'pid-namespace',
    group: 'Work',
    value: 'auto|off',
    default: 'auto',
    defaultText: 'auto',
    parse: oneOf(['auto', 'off'] as const),
    sentence:
      'Run commands in a PID namespace (one per worker) where the machine allows it, so that nothing outlives them. Off: for jobs that must signal other processes of the machine.',
    commands: WORKERS,
  }),
  leaseMs: setting({
    name: 'lease',
    group: 'Leases and shutdown',
    value: 'DURATION',
    default: 30_000,
    defaultText: '30s',
    parse: durationFrom(1_000),
    sentence: 'How long a silent worker keeps its jobs.',
    commands: PROCESSES,
  }),
  heartbeatMs: setting({
    name: 'heartbeat',
    group: 'Leases and shutdown',
    value: 'DURATION',
    default: 5_000,
    defaultText: '5s',
    parse: durationFrom(100),
    sentence: 'How often a worker renews its lease; at most half of the lease.',
    commands: PROCESSES,
  }),
  reapEveryMs: setting({
    name: 'reap-every',
    group: 'Leases and shutdown',
    value: 'DURATION',
    default: 10_000,
    defaultText: '10s',
    parse: durationFrom(100),
    sentence: 'How often the jobs of lost workers are looked for.',
    commands: SERVERS,
  }),
  drainTimeoutMs: setting<number | null>({
    name: 'drain-timeout',
    group: 'Leases and shutdown',
    value: 'DURATION|off',
    default: null,
    defaultText: 'off',
    parse: durationOrOff,
    sentence:
      'On shutdown, how long running jobs may go on before they are stopped and given back. Off: until they end.',
    commands: WORKERS,
  }),
  retentionDoneMs: setting({
    name: 'retention-done',
    group: 'Retention',
    value: 'DURATION',
    default: 7 * 86_400_000,
    defaultText: '7d',
    parse: durationFrom(0),
    sentence: 'How long jobs that are done are kept.',
    commands: SERVERS,
  }),
  retentionFailedMs: setting({
    name: 'retention-failed',
    group: 'Retention',
    value: 'DURATION',
    default: 30 * 86_400_000,
    defaultText: '30d',
    parse: durationFrom(0),
    sentence: 'How long failed, cancelled and skipped jobs are kept.',
    commands: SERVERS,
  }),
  retentionLedgerMs: setting({
    name: 'retention-ledger',
    group: 'Retention',
    value: 'DURATION',
    default: 90 * 86_400_000,
    defaultText: '90d',
    parse: durationFrom(0),
    sentence: 'How long the ledger of schedules is kept.',
    commands: SERVERS,
  }),
  retentionStatsMs: setting({
    name: 'retention-stats',
    group: 'Retention',
    value: 'DURATION',
    default: 90 * 86_400_000,
    defaultText: '90d',
    parse: durationFrom(0),
    sentence: 'How long statistics are kept.',
    commands: SERVERS,
  }),
  notify: setting<readonly unknown[]>({
    name: 'notify',
    group: 'Being told',
    value: 'JSON',
    default: [],
    defaultText: 'nobody',
    parse: jsonList,
    sentence:
      'Who is told of every job, workflow and schedule, beside what those say themselves: a list as in docs/notify.md, such as [{"on": ["failed"], "webhook": "https://example.com/hook"}]. The same on all processes.',
    commands: SERVERS,
  }),
  notifySecret: setting<string | null>({
    name: 'notify-secret',
    group: 'Being told',
    value: 'SECRET',
    default: null,
    defaultText: 'none',
    parse: secret,
    sentence: 'Signs what goes to webhooks: the header X-Workron-Signature is sha256= and the HMAC of the body.',
    commands: SERVERS,
  }),
  notifyAllowPrivate: setting<readonly string[]>({
    name: 'notify-allow-private',
    group: 'Being told',
    value: 'NETWORK,…',
    default: [],
    defaultText: 'none',
    parse: listOf(network),
    sentence:
      'Private, loopback and link-local addresses that this worker may call webhooks at: networks such as 10.0.0.0/8, single addresses, or all.',
    commands: WORKERS,
  }),
  publicUrl: setting<string | null>({
    name: 'public-url',
    group: 'Being told',
    value: 'URL',
    default: null,
    defaultText: 'none',
    parse: httpUrl,
    sentence: 'Where people reach this installation, for links in messages.',
    commands: SERVERS,
  }),
  logLevel: setting<LogLevel>({
    name: 'log-level',
    group: 'Log',
    value: 'LEVEL',
    default: 'info',
    defaultText: 'info',
    parse: oneOf(LOG_LEVELS),
    sentence: `What goes to the log (stderr; JSON lines, or, on a terminal, lines for people): ${LOG_LEVELS.join(', ')}.`,
    commands: DATABASE,
  }),
} as const;

export type SettingKey = keyof typeof SETTINGS;

/** Which store, decided once from `db-url` and `db-driver`. */
export type StoreChoice =
  | { driver: 'memory' }
  /** `file` as the user wrote it, relative to the working directory. */
  | { driver: 'sqlite'; file: string }
  | { driver: 'postgres'; url: string };

/** Every setting with its value: durations in milliseconds, `token` read from its file, `store` decided. */
export type Settings = {
  readonly [K in SettingKey]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never;
} & { readonly store: StoreChoice };

/** The setting's variable: `WORKRON_REAP_EVERY`. */
export function envName(name: string): string {
  return `WORKRON_${name.toUpperCase().replaceAll('-', '_')}`;
}

export function settingsOf(command: SettingCommand): [SettingKey, Setting<unknown>][] {
  return (Object.entries(SETTINGS) as [SettingKey, Setting<unknown>][]).filter(([, { commands }]) =>
    commands.includes(command),
  );
}
