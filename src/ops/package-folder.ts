import { findPackageJSON } from 'node:module';
import { dirname } from 'node:path';

/** The folder of this package's package.json, for the sources and for the published build alike. */
export const packageFolder: string = dirname(findPackageJSON(import.meta.url) as string);
