/** `npm run build`: writes the published code into `dist`, or into the folder that is given. */

import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundle } from './bundle.ts';
import { declarations } from './declarations.ts';

const folder = resolve(process.argv[2] ?? join(import.meta.dirname, '..', 'dist'));
rmSync(folder, { recursive: true, force: true });
await bundle(folder);
declarations(join(folder, 'types'));
