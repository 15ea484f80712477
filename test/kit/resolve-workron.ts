/** Preloaded by tests: resolves `workron` to these sources, as an application resolves the package. */

import { registerHooks } from 'node:module';

const ENTRIES: Readonly<Record<string, string>> = {
  workron: '../../src/index.ts',
  'workron/client': '../../src/client.ts',
  'workron/job': '../../src/job.ts',
  'workron/testing': '../../src/testing.ts',
};

registerHooks({
  resolve(specifier, context, next) {
    const entry = ENTRIES[specifier];
    if (entry === undefined) return next(specifier, context);
    return { url: new URL(entry, import.meta.url).href, shortCircuit: true };
  },
});
