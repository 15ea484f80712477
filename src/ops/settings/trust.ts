/** A settings file that merely lies in the working directory decides neither who gets a token nor which code runs. */

import { SettingsError } from './error.ts';
import type { SettingKey } from './settings.ts';

export interface Given {
  text: string;
  /** How the user spelled it, for messages. */
  from: string;
  /** It is in a file that nobody named. */
  unasked?: boolean;
}

/** The addresses that a token is sent to. */
const ADDRESSES = ['url', 'schedulerUrls'] as const;

export function checkTrust(given: Partial<Record<SettingKey, Given>>): void {
  const { token, tokenFile, handlers } = given;
  const address = ADDRESSES.map((key) => given[key]).find((found) => found?.unasked);
  const foreign = [token?.unasked ? undefined : token, tokenFile].find((found) => found !== undefined);
  if (address !== undefined && foreign !== undefined) {
    throw new SettingsError(
      `${address.from}: refusing to send the token of ${foreign.from} to an address that the working directory names`,
      'give the address by flag or variable, or name the file: --config ./workron.yaml',
    );
  }
  if (handlers?.unasked) {
    throw new SettingsError(
      `${handlers.from}: refusing to run code that the working directory names`,
      'give it by --handlers, or name the file: --config ./workron.yaml',
    );
  }
}
