/** A settings file that merely lies in the working directory decides neither who gets a token nor which code runs. */

import { realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { SettingsError } from './error.ts';
import type { Given } from './profile-choice.ts';
import type { SettingKey } from './settings.ts';

/** The addresses that a token is sent to, and their flags. */
const ADDRESSES = [
  ['url', '--url'],
  ['schedulerUrls', '--scheduler'],
] as const;

/** Settings that name code, and their flags. */
const CODE = [
  ['handlers', '--handlers'],
  ['secretsKeyCommand', '--secrets-key-command'],
] as const;

const LOOPBACK = /^https?:\/\/(127(\.\d+){3}|localhost|\[::1\])(:\d+)?$/;

export function checkTrust(given: Partial<Record<SettingKey, Given>>): void {
  const { token, tokenFile, profile } = given;
  if (profile?.unasked) {
    throw new SettingsError(
      `${profile.from}: the working directory does not choose a profile`,
      'give it by --profile or WORKRON_PROFILE',
    );
  }
  const used = token ?? tokenFile;
  const isOwn = token === undefined ? tokenFile?.unasked && isInside(tokenFile.text) : token.unasked;
  for (const [key, flag] of ADDRESSES) {
    const address = given[key];
    if (!address?.unasked || used === undefined || isOwn) continue;
    // An address elsewhere is not suggested: the file may be somebody else's.
    const shown = LOOPBACK.test(address.text) ? address.text : 'URL';
    throw new SettingsError(
      `${address.from}: refusing to send the token of ${used.from} to an address that the working directory names`,
      `if that server is yours, give its address: ${flag} ${shown}, or name the file: --config ./workron.yaml`,
    );
  }
  if (given.ca?.unasked && used !== undefined && !isOwn) {
    throw new SettingsError(
      `${given.ca.from}: refusing to send the token of ${used.from} to a server that the working directory vouches for`,
      'give its authority by --ca, or name the file: --config ./workron.yaml',
    );
  }
  for (const [key, flag] of CODE) {
    const code = given[key];
    if (!code?.unasked) continue;
    throw new SettingsError(
      `${code.from}: refusing to run code that the working directory names`,
      `give it by ${flag}, or name the file: --config ./workron.yaml`,
    );
  }
}

/** Whether a file lies in the working directory, where the settings file is. A link that leads out of it does not. */
function isInside(path: string): boolean {
  const inside = relative(realPath('.'), realPath(path));
  return inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // Reading it will say why it cannot be read.
    return resolve(path);
  }
}
