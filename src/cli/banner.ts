/** The text that a server process prints when it has started. */

import { countText } from '../api/count-text.ts';
import { PAGE_PATH, routes } from '../api/routes.ts';
import type { Role, Settings } from '../ops/settings/settings.ts';
import { COMMAND } from './command-name.ts';
import { quote } from './input/shell-line.ts';

interface BannerFacts {
  settings: Settings;
  roles: readonly Role[];
  /** The address of the API; `null` without the `api` role. */
  url: string | null;
  /** The path of a link that logs in, if the server has made its token itself; else `null`. */
  link: string | null;
  /** About the certificate of the API; `null` if it speaks plain HTTP. */
  tls: string | null;
  /** The store's own description of its location. */
  location: string;
}

export function banner({ settings, roles, url, location, link, tls }: BannerFacts): string {
  const lines = [`Workron is up: ${roles.join(', ')}`];
  const line = (label: string, text: string) => lines.push(`  ${label.padEnd(9)} ${text}`);
  if (settings.store.driver === 'memory') line('store', 'memory: jobs are gone when this process ends');
  else line('store', `${settings.store.driver} ${location}`);
  if (roles.includes('worker')) {
    const queues = settings.queues === null ? 'all queues' : settings.queues.join(', ');
    line('worker', `${countText(settings.workers, 'slot')}, ${queues}`);
  }
  if (url !== null) {
    line('dashboard', url + (link ?? `${PAGE_PATH}/`));
    const flag = url === 'http://127.0.0.1:8080' ? '' : ` --url ${url}`;
    if (link !== null) line('', `(this link logs in once; ${COMMAND} auth link${flag} makes another)`);
    if (link === null && settings.token === null) {
      line('WARNING', 'no token: every user of this machine can run commands as this one (--insecure-no-token)');
    }
    line('API', url);
    if (tls !== null) {
      line('TLS', `certificate for ${tls}`);
      line('', '(if its authority is not a public one: --ca FILE, and curl --cacert FILE)');
    }
    const header = headerFor(settings, link, flag);
    if (settings.token !== null) line('token', `export WORKRON_TOKEN=${tokenText(settings)}`);
    line('try', `curl${header} -d '{"command":"echo hello"}' ${url}${routes.submitJobs.path}`);
    if (roles.includes('worker')) line('', `${COMMAND} run${flag} -- 'for i in 1 2 3; do echo $i; sleep 1; done'`);
    else line('', `${COMMAND} worker --scheduler ${url}`);
    line('', `${COMMAND} jobs${flag}`);
  }
  return `${lines.join('\n')}\n`;
}

/** What gives curl access. */
function headerFor({ token }: Settings, link: string | null, flag: string): string {
  if (token !== null) return ' -H "authorization: Bearer $WORKRON_TOKEN"';
  return link === null ? '' : ` -H "$(${COMMAND} auth header${flag})"`;
}

/** How the commands below get the token. It is not printed itself. */
function tokenText({ tokenFile }: Settings): string {
  return tokenFile === null ? '…    # the token of this server' : `"$(cat ${quote(tokenFile)})"`;
}
