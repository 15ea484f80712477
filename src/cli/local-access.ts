/** The access to a server that was started without a token: it makes one itself, for programs of its own user. */

import { LocalFolder } from '../ops/local-server.ts';
import type { Settings } from '../ops/settings/settings.ts';
import { newTokenText } from '../ops/token-text.ts';
import { usageError } from './errors/cli-error.ts';

export interface LocalAccess extends Disposable {
  token: string;
  /** Lets other programs of this user find the server. Returns where its socket may be. */
  publish(api: { url: string; port: number }): string | null;
}

/** Returns `null` if the server has a token, or was told to need none. */
export function openLocalAccess({ token, insecureNoToken, port }: Settings): LocalAccess | null {
  if (token !== null || insecureNoToken) return null;
  let folder = port === 0 ? null : folderOf(port);
  // The token of an earlier server on this port stays valid: its workers still have it.
  const made = folder?.token ?? newTokenText();
  return {
    token: made,
    publish(api) {
      folder ??= folderOf(api.port);
      const socket = folder.freeSocket();
      folder.publish(made, new URL(api.url).protocol);
      return socket;
    },
    [Symbol.dispose]: () => folder?.withdraw({ forget: port === 0 }),
  };
}

function folderOf(port: number): LocalFolder {
  try {
    return new LocalFolder(port);
  } catch (error) {
    throw usageError(
      `there is no place for the token of this server: ${(error as Error).message}`,
      'give it one by WORKRON_TOKEN or --token-file, or set HOME to a folder that this user can write to',
    );
  }
}
