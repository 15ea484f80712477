import { findPackageJSON } from 'node:module';
import { dirname } from 'node:path';

/** The folder of this package's package.json, both in the sources and in the published package. */
export const packageFolder: string = dirname(findPackageJSON(import.meta.url) as string);
