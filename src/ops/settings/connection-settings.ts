/** Settings about connections: what a server listens on, and the store. */

import { DRIVERS, type Driver } from '../../core/driver.ts';
import {
  anyText,
  countFrom,
  headerName,
  identifier,
  listOf,
  oneOf,
  onOrOff,
  peer,
  port,
  type RoleRule,
  roleRules,
  secret,
  serverUrl,
  socketPath,
} from './parse.ts';
import { profileName } from './profile.ts';
import { DATABASE, inGroup, SERVERS, setting } from './setting.ts';

export const accessSettings = inGroup('Listening and access', {
  host: setting({
    name: 'host',
    value: 'ADDRESS',
    default: '127.0.0.1',
    defaultText: '127.0.0.1',
    parse: anyText,
    sentence: 'Address to listen on. Any address other than loopback requires a token of at least 22 characters.',
    commands: SERVERS,
  }),
  port: setting({
    name: 'port',
    value: 'NUMBER',
    default: 8080,
    defaultText: '8080',
    parse: port,
    sentence: 'Port to listen on. 0 picks a free port.',
    commands: SERVERS,
    fallback: 'PORT',
  }),
  socket: setting<string | null>({
    name: 'socket',
    value: 'PATH',
    default: null,
    defaultText: 'none',
    parse: socketPath,
    sentence:
      'Socket of the file system to listen on as well: no other user can take it over while the server is down, as they can a port. Its folder must belong to the user of the server, who alone may write to it.',
    commands: SERVERS,
  }),
  url: setting({
    name: 'url',
    value: 'URL',
    default: 'http://127.0.0.1:8080',
    defaultText: 'http://127.0.0.1:8080',
    parse: serverUrl,
    sentence:
      'URL of the Workron server, or unix:PATH of its socket. Without it, host and port of WORKRON_HOST and WORKRON_PORT or of the settings file count.',
    commands: ['client'],
  }),
  profile: setting<string | null>({
    name: 'profile',
    value: 'NAME',
    default: null,
    defaultText: 'the one in use',
    parse: profileName,
    sentence: 'Profile whose server and token are used; workron config makes profiles.',
    commands: ['client'],
  }),
  token: setting<string | null>({
    name: 'token',
    value: 'TOKEN',
    default: null,
    defaultText: 'none',
    parse: secret,
    sentence:
      'Secret that every request must carry. Prefer the variable or token-file: other users of the machine can see flags.',
    commands: ['up', 'scheduler', 'worker', 'client'],
  }),
  tokenFile: setting<string | null>({
    name: 'token-file',
    value: 'FILE',
    default: null,
    defaultText: 'none',
    parse: anyText,
    sentence: 'File that holds the token. Used if no token is given. It must not be readable by all users.',
    commands: ['up', 'scheduler', 'worker', 'client'],
  }),
  tlsCert: setting<string | null>({
    name: 'tls-cert',
    value: 'FILE',
    default: null,
    defaultText: 'none',
    parse: anyText,
    sentence:
      'Certificate of the server in PEM format, followed by those of intermediate authorities. With it and tls-key the server speaks https only. Both files are read again when they change.',
    commands: SERVERS,
  }),
  tlsKey: setting<string | null>({
    name: 'tls-key',
    value: 'FILE',
    default: null,
    defaultText: 'none',
    parse: anyText,
    sentence: 'Private key of tls-cert in PEM format, without a passphrase. It must not be readable by all users.',
    commands: SERVERS,
  }),
  ca: setting<string | null>({
    name: 'ca',
    value: 'FILE',
    default: null,
    defaultText: 'the public authorities',
    parse: anyText,
    sentence: 'Certificates, in PEM format, of the only authorities that are trusted for a server at https://….',
    commands: ['worker', 'client'],
  }),
  insecureNoToken: setting({
    name: 'insecure-no-token',
    value: 'on|off',
    default: false,
    defaultText: 'off',
    parse: onOrOff,
    sentence:
      'on lets everybody who can reach the server do everything: every user of this machine can run commands as its user. Otherwise a server without a token makes one that only programs of its own user find.',
    commands: SERVERS,
  }),
  allowedHosts: setting<readonly string[]>({
    name: 'allowed-host',
    value: 'NAME,…',
    default: [],
    defaultText: 'none',
    parse: listOf(anyText),
    sentence:
      'Additional host names: requests without a token may have them as Host, all requests as Origin. Requests that a browser marks as cross-site stay refused. May be given more than once.',
    commands: SERVERS,
  }),
  trustProxy: setting<readonly string[]>({
    name: 'trust-proxy',
    value: 'ADDRESS,…',
    default: [],
    defaultText: 'none',
    parse: listOf(peer),
    sentence:
      'Addresses or networks of proxies in front. Only in requests from them X-Forwarded-For names the caller’s address, and user-header the user.',
    commands: SERVERS,
  }),
  userHeader: setting<string | null>({
    name: 'user-header',
    value: 'HEADER',
    default: null,
    defaultText: 'none',
    parse: headerName,
    sentence:
      'Header with the name of the user whom the proxy has signed in, such as X-Forwarded-Email. The proxy must remove it from requests that it gets. Needs trust-proxy and role-map.',
    commands: SERVERS,
  }),
  roleMap: setting<readonly RoleRule[]>({
    name: 'role-map',
    value: 'USER=ROLE,…',
    default: [],
    defaultText: 'none',
    parse: roleRules,
    sentence:
      'Roles of the users of user-header; * stands for any text, and the first rule that matches counts: ada@example.org=admin,*@example.org=viewer. Others are refused.',
    commands: SERVERS,
  }),
});

export const storeSettings = inGroup('Store', {
  dbUrl: setting<string | null>({
    name: 'db-url',
    value: 'URL',
    default: null,
    defaultText: 'sqlite:./workron.db',
    parse: anyText,
    sentence: 'Store of the jobs: postgres://…, sqlite:FILE (or just a path), or memory:.',
    commands: [...DATABASE, 'backup'],
    fallback: 'DATABASE_URL',
  }),
  dbDriver: setting<Driver | null>({
    name: 'db-driver',
    value: 'DRIVER',
    default: null,
    defaultText: 'follows from db-url',
    parse: oneOf(DRIVERS),
    sentence: 'memory, sqlite or postgres. Needed only without a db-url.',
    commands: DATABASE,
  }),
  dbDirectUrl: setting<string | null>({
    name: 'db-direct-url',
    value: 'URL',
    default: null,
    defaultText: 'db-url',
    parse: anyText,
    sentence:
      'Direct PostgreSQL connection that bypasses a transaction pooler. Used for session locks and notifications.',
    commands: DATABASE,
  }),
  dbSchema: setting({
    name: 'db-schema',
    value: 'NAME',
    default: 'workron',
    defaultText: 'workron',
    parse: identifier,
    sentence: 'PostgreSQL schema of this installation. Installations that share a database need different schemas.',
    commands: DATABASE,
  }),
  dbPool: setting({
    name: 'db-pool',
    value: 'NUMBER',
    default: 10,
    defaultText: '10',
    parse: countFrom(1, 1_000),
    sentence:
      'Size of the PostgreSQL connection pool of this process. A few more connections are held for heartbeats and locks.',
    commands: DATABASE,
  }),
  dbPreparedStatements: setting({
    name: 'db-prepared-statements',
    value: 'on|off',
    default: true,
    defaultText: 'on',
    parse: onOrOff,
    sentence:
      'off sends statements without names, for a pooler that lacks named prepared statements (PgBouncer before 1.21).',
    commands: DATABASE,
  }),
});
