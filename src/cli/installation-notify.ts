/** The notify targets of the installation, from its settings. */

import { decode } from '../api/decode.ts';
import { NotifyList, notifyFrom } from '../api/notify.ts';
import { SettingsError } from '../ops/settings/error.ts';
import type { Settings } from '../ops/settings/settings.ts';
import type { NotifyContext } from '../scheduler/notify/targets.ts';

export function notifyContext({ notify, notifySecret: secret, publicUrl }: Settings): NotifyContext {
  return { list: notifyFrom(listOf(notify)), secret, publicUrl };
}

function listOf(value: readonly unknown[]): NotifyList {
  try {
    return decode(NotifyList, value);
  } catch (error) {
    throw new SettingsError(`notify: ${(error as Error).message}`);
  }
}
