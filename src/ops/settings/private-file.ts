import { readFileSync, statSync } from 'node:fs';
import { systemErrorText } from '../system-error.ts';
import { SettingsError } from './error.ts';

/** Permission bits. A group may have access: so a container that does not run as the owner can read a secret. */
const FOR_ALL_USERS = 0o007;

/** Reads a file with a secret. Throws `SettingsError` if it cannot be read, is empty, or all users may use it. */
export function readPrivateFile(setting: string, file: string): string {
  let text: string;
  let mode: number;
  try {
    text = readFileSync(file, 'utf8').trim();
    ({ mode } = statSync(file));
  } catch (error) {
    throw new SettingsError(`${setting}: cannot read ${file}: ${systemErrorText(error)}`);
  }
  if ((mode & FOR_ALL_USERS) !== 0) {
    throw new SettingsError(
      `${setting}: all users of this machine may use ${file}`,
      `chmod 600 ${file}; for a secret of Docker set mode: 0440, for one of Kubernetes defaultMode: 0440 and fsGroup`,
    );
  }
  if (text === '') throw new SettingsError(`${setting}: ${file} is empty`);
  return text;
}
