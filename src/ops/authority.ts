/** The certificates of the authorities that a client trusts in place of the public ones. */

import { readFileSync } from 'node:fs';
import { SettingsError } from './settings/error.ts';
import { systemErrorText } from './system-error.ts';

export const AUTHORITY_EXPECTED = 'expected certificates in PEM format';

/** Returns the text of the file; `null` without one. Throws `SettingsError` if there is no certificate in it. */
export function readAuthority(file: string | null): string | null {
  if (file === null) return null;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new SettingsError(`ca: cannot read ${file}: ${systemErrorText(error)}`);
  }
  if (!isAuthority(text)) throw new SettingsError(`ca: ${AUTHORITY_EXPECTED} in ${file}`);
  return text;
}

export function isAuthority(text: string): boolean {
  // Loaded on demand: most calls of the command line need no cryptography.
  const { X509Certificate } = process.getBuiltinModule('node:crypto');
  try {
    return new X509Certificate(text).raw.length > 0;
  } catch {
    return false;
  }
}
