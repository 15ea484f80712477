import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder } from '../ops/package-folder.ts';

/** Of this package. */
export const version: string = (
  JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string }
).version;
