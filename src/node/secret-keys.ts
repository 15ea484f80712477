/** The keys of secrets, from a file or a command. */

import { execFileSync } from 'node:child_process';
import { KeyRing } from '../ops/key-ring.ts';
import { SettingsError } from '../ops/settings/error.ts';
import { readPrivateFile } from '../ops/settings/private-file.ts';
import type { Settings } from '../ops/settings/settings.ts';

const COMMAND_MS = 30_000;

/** `null` if neither is set. Throws `SettingsError` if there is no well-formed key. */
export function secretKeysOf({
  secretsKeyFile: file,
  secretsKeyCommand: command,
}: Pick<Settings, 'secretsKeyFile' | 'secretsKeyCommand'>): KeyRing | null {
  if (file !== null && command !== null) {
    throw new SettingsError('expected secrets-key-file or secrets-key-command, not both');
  }
  if (file !== null) return keysIn(readPrivateFile('secrets-key-file', file), `secrets-key-file: ${file}`);
  return command === null ? null : keysIn(printedBy(command), 'secrets-key-command');
}

function printedBy(command: string): string {
  try {
    return execFileSync('/bin/sh', ['-c', command], {
      encoding: 'utf8',
      timeout: COMMAND_MS,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  } catch (error) {
    const { status, signal } = error as { status?: number | null; signal?: string | null };
    throw new SettingsError(`secrets-key-command: it ended with ${signal ?? `exit ${status}`}`);
  }
}

function keysIn(text: string, from: string): KeyRing {
  try {
    return KeyRing.parse(text);
  } catch (error) {
    throw new SettingsError(`${from}: ${(error as Error).message}`, 'make one with: openssl rand -base64 32');
  }
}
