/** Which file of `dist` a module of the source goes into. */

import { join } from 'node:path';
import type { ChunkingContext, CodeSplittingGroup } from 'rolldown';
import { ENTRIES } from './parts.ts';

const ROOT = join(import.meta.dirname, '..');

/** The commands are in one file that is loaded once a command is known: one file for each would be too many. */
export const COMMANDS = 'workron:commands';

interface Stage {
  name: string;
  /** Modules, with everything that they import before they run. What they load on demand is not part of it. */
  roots: readonly string[];
  /** Only modules with such a path. */
  test?: RegExp;
}

const { job, client, index, cli } = ENTRIES as Record<'job' | 'client' | 'index' | 'cli', string>;

/**
 * What starts fast. A module is in the first stage that it belongs to, so that no stage needs anything but itself and
 * stages before it. Which modules these are follows from their imports.
 */
const STAGES: readonly Stage[] = [
  { name: 'job', roots: [job] },
  { name: 'client', roots: [client] },
  { name: 'entry', roots: [index] },
  // Also the engine uses it. It must not load commands for that.
  { name: 'common', roots: [cli, COMMANDS], test: /^(?!.*\/src\/cli\/)/ },
  { name: 'program', roots: [cli] },
  { name: 'commands', roots: [COMMANDS] },
  { name: 'serve', roots: ['src/cli/serve.ts'], test: /\/src\/cli\// },
];

/** What is loaded on demand, by folder. Without groups there would be a file for each set of entries that share something. */
const REST: readonly CodeSplittingGroup[] = [
  { name: 'help', test: /\/src\/cli\/(?!main\.ts)/ },
  { name: 'core', test: /\/src\/(?:core\/|store\/[^/]+\.ts)/ },
  { name: 'ops', test: /\/src\/(?:ops\/(?!log\.ts|metrics\.ts)|node\/open-store\.ts)/ },
  { name: 'telemetry', test: /\/src\/ops\/(?:log|metrics)\.ts/ },
  { name: 'files', test: /\/src\/api\/(?:schedule-file|workflow\/file|workflow\/source|workflow\/stored-wire)\.ts/ },
  { name: 'schemas', test: /\/src\/api\/(?!(?:describe-schedule|schedule-wire)\.ts)/ },
  { name: 'scheduler', test: /\/src\/scheduler\// },
  { name: 'worker', test: /\/src\/worker\// },
  // What only commands and the page's checks need. It loads both databases.
  { name: 'admin', test: /\/src\/node\/(?:doctor|export|promote)\// },
  {
    name: 'library',
    test: /\/src\/(?:node|library)\/(?!(?:test-kit|isolated-thread|(?:http|store)-backend|scheduler-\w+)\.ts)/,
  },
  {
    name: 'engine',
    test: /\/src\/(?:api\/(?:describe-schedule|schedule-wire)|library\/(?:store-backend|scheduler-\w+))\.ts/,
  },
  { name: 'server', test: /\/src\/http\// },
  { name: 'memory', test: /\/src\/store\/memory\// },
  { name: 'sqlite', test: /\/src\/store\/sqlite\// },
  { name: 'postgres', test: /\/src\/store\/postgres\// },
];

export function groups(): CodeSplittingGroup[] {
  const reached = new Map<Stage, ReadonlySet<string>>();
  const isPart = (id: string, stage: Stage, ctx: ChunkingContext): boolean => {
    if (!reached.has(stage)) reached.set(stage, reachedFrom(stage.roots, ctx));
    return reached.get(stage)?.has(id) === true && stage.test?.test(id) !== false;
  };
  // An entry has a file of its own: `main.ts` waits for its command, so what a command loads must not import that file.
  const own = new Set([...Object.values(ENTRIES), COMMANDS].map(idOf));
  const name = (id: string, ctx: ChunkingContext): string | undefined =>
    own.has(id) ? undefined : STAGES.find((stage) => isPart(id, stage, ctx))?.name;
  return [{ name }, ...REST];
}

function reachedFrom(roots: readonly string[], ctx: ChunkingContext): ReadonlySet<string> {
  const reached = new Set(roots.map(idOf));
  for (const id of reached) for (const imported of ctx.getModuleInfo(id)?.importedIds ?? []) reached.add(imported);
  return reached;
}

function idOf(source: string): string {
  return source === COMMANDS ? source : join(ROOT, source);
}
