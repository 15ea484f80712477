/** Bundles the sources into `dist`: one file for each entry and part, and chunks that they share. */

import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { type OutputOptions, type Plugin, RolldownMagicString, type RolldownOptions, rolldown } from 'rolldown';
import { readMigrations } from '../src/store/migration.ts';
import type { Dialect } from '../src/store/sql/sql.ts';
import { COMMANDS, groups } from './chunks.ts';
import { ENTRIES, type Sources, STARTED } from './parts.ts';

const ROOT = join(import.meta.dirname, '..');

const { version, dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
  dependencies: Record<string, string>;
};

/** The oldest runtime, as in `engines` of package.json. */
const TARGET = 'node22';

/** Packages that npm installs beside Workron, or that the application has. */
const EXTERNAL = [...Object.keys(dependencies), '@opentelemetry/api'].map((name) => new RegExp(`^${name}(/|$)`));

/** What packages load only where it is installed. */
const OPTIONAL = ['pg-native', '@opentelemetry/api', 'cloudflare:sockets'];

const OUTPUT: OutputOptions = { format: 'esm', minify: { compress: true, mangle: false, codegen: false } };

/** A place that the source names relative to itself. */
const PLACE = /(\{ file: )?new URL\('(\.[^']+)', import\.meta\.url\)( \})?/g;

/** Modules that read files in a clone, and what they contain in the package: source → code. */
const EMBEDDED: Readonly<Record<string, () => string>> = {
  'src/node/version.ts': () => `export const version = ${JSON.stringify(version)};`,
  'src/cli/command-name.ts': () => `export const COMMAND = 'workron';`,
  'src/store/sqlite/base/migrations.ts': () => migrationsOf('sqlite'),
  'src/store/postgres/base/migrations.ts': () => migrationsOf('postgres'),
};

function migrationsOf(dialect: Dialect): string {
  return `export const MIGRATIONS = ${JSON.stringify(readMigrations(dialect))};`;
}

function embedFiles(): Plugin {
  return {
    name: 'embed-files',
    load(id) {
      return EMBEDDED[relative(ROOT, id)]?.();
    },
  };
}

/** A module that exports the code of each part as text, for an application that is bundled again and so has no file of the part. */
const TEXTS = 'workron:texts';

/** `texts`: also in files that have no part beside them. */
function placeParts({ texts: withTexts = true } = {}): Plugin {
  const nameOf = new Map(Object.entries(STARTED).map(([name, source]) => [join(ROOT, source), name]));
  return {
    name: 'place-parts',
    resolveId: (id) => (id === TEXTS ? id : undefined),
    load: (id) => (id === TEXTS ? texts() : undefined),
    transform(code, id) {
      if (!code.includes('import.meta.url') || !id.startsWith(join(ROOT, 'src'))) return undefined;
      const placed = new RolldownMagicString(code);
      for (const match of code.matchAll(PLACE)) {
        const [whole, open, place] = match as unknown as [string, string | undefined, string];
        const target = resolve(dirname(id), place);
        const text = open === undefined ? besideDist(target, place) : partCode(id, nameOf.get(target), withTexts);
        placed.overwrite(match.index, match.index + whole.length, text);
      }
      return { code: placed.toString(), map: placed.generateMap({ hires: true }).toString() };
    },
  };
}

function besideDist(target: string, place: string): string {
  return urlOf(`../${relative(ROOT, target)}${place.endsWith('/') ? '/' : ''}`);
}

function partCode(id: string, name: string | undefined, withText: boolean): string {
  if (name === undefined) throw new Error(`${id}: expected each { file: … } in build/parts.ts`);
  const text = withText ? `, embedded: async () => (await import('${TEXTS}')).default['${name}']` : '';
  return `{ file: ${urlOf(`./${name}.js`)}${text} }`;
}

async function texts(): Promise<string> {
  const codes: Record<string, string> = {};
  for (const name of Object.keys(STARTED)) codes[name] = await selfContained(name);
  return `export default ${JSON.stringify(codes)};`;
}

function joinCommands(): Plugin {
  const modules: string[] = [];
  return {
    name: 'join-commands',
    resolveId: (id) => (id === COMMANDS ? id : undefined),
    load: (id) =>
      id === COMMANDS
        ? modules.map((path, at) => `export * as command${at} from ${JSON.stringify(path)};`).join('\n')
        : undefined,
    transform(code, id) {
      if (id !== join(ROOT, 'src/cli/commands.ts')) return undefined;
      const joined = code.replace(/await import\('([^']+)'\)/g, (_, place: string) => {
        const path = resolve(dirname(id), place);
        if (!modules.includes(path)) modules.push(path);
        return `(await import('${COMMANDS}')).command${modules.indexOf(path)}`;
      });
      // The lines keep their numbers.
      return { code: joined, map: null };
    },
  };
}

/** A file that only passes on names of another file. Rolldown writes one for each module in a shared file that is imported on demand. */
const PASSED_ON = /^export \{ ([^}]+) \} from "(\.\/[\w.-]+)";$/;

/** Imports what such files pass on from where it is, and leaves them out: there would be dozens. */
function dropPassedOn(): Plugin {
  return {
    name: 'drop-passed-on',
    generateBundle(_, files) {
      const replaced = new Map<string, string>();
      for (const [name, file] of Object.entries(files)) {
        if (file.type !== 'chunk' || file.isEntry) continue;
        const [, names, source] = PASSED_ON.exec(file.code.trim()) ?? [];
        if (names === undefined) continue;
        const members = names.split(', ').map((each) => each.replace(/^([\w$]+) as (\w+)$/, '$2: file.$1'));
        replaced.set(`import("./${name}")`, `import("${source}").then((file) => ({ ${members.join(', ')} }))`);
        delete files[name];
      }
      for (const file of Object.values(files)) {
        if (file.type !== 'chunk') continue;
        file.code = file.code.replace(/import\("\.\/[\w.-]+"\)/g, (found) => replaced.get(found) ?? found);
      }
    },
  };
}

/** All files of `dist` are in one folder. A bundle in the form of CommonJS has no address of its own. */
function urlOf(place: string): string {
  return `new URL('${place}', import.meta.url ?? 'file:///')`;
}

/** Bundles one part with everything it needs. What it starts itself cannot be part of it. */
async function selfContained(name: string): Promise<string> {
  const bundle = await rolldown({
    ...common(),
    plugins: [embedFiles()],
    input: join(ROOT, STARTED[name] as string),
    external: OPTIONAL,
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true, codeSplitting: false });
  await bundle.close();
  // Text that is run or imported has no address. Only `require` of Node's own modules needs one.
  return output[0].code.replaceAll('import.meta.url', "'file:///workron'");
}

function common(): RolldownOptions {
  return {
    cwd: ROOT,
    platform: 'node',
    logLevel: 'warn',
    checks: { ineffectiveDynamicImport: false, pluginTimings: false },
    tsconfig: false,
    transform: { target: TARGET },
    preserveEntrySignatures: 'allow-extension',
  };
}

/** `more`: further entries, such as tests that are to run on the published code. */
export async function bundle(folder: string, more: Sources = {}): Promise<void> {
  const codeSplitting = { includeDependenciesRecursively: false, groups: groups() };
  await write({ ...ENTRIES, ...more }, [embedFiles(), placeParts(), joinCommands(), dropPassedOn()], {
    dir: folder,
    codeSplitting,
  });
  for (const [name, source] of Object.entries(STARTED)) {
    // One file each: a thread starts faster, and starts no other.
    if (!(name in ENTRIES)) await write({ [name]: source }, [embedFiles()], { dir: folder, codeSplitting: false });
  }
}

/** The command line alone, with the packages it loads, in the form that starts fastest: for tests, which start it by the hundred. */
export async function bundleProgram(folder: string): Promise<void> {
  const output: OutputOptions = { dir: folder, minify: false, sourcemap: false };
  const { cli } = ENTRIES as { cli: string };
  await write({ cli }, [embedFiles(), placeParts({ texts: false })], output, OPTIONAL);
  for (const [name, source] of Object.entries(STARTED)) {
    await write({ [name]: source }, [embedFiles()], { ...output, codeSplitting: false }, OPTIONAL);
  }
}

async function write(
  sources: Sources,
  plugins: Plugin[],
  options: OutputOptions,
  external: (string | RegExp)[] = EXTERNAL,
): Promise<void> {
  const input = Object.fromEntries(Object.entries(sources).map(([name, source]) => [name, join(ROOT, source)]));
  const built = await rolldown({ ...common(), plugins, input, external });
  await built.write({
    ...OUTPUT,
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunk-[name]-[hash].js',
    ...options,
  });
  await built.close();
}
