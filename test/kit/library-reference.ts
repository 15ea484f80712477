/**
 * Generates docs/library-reference.md from the types: `node test/kit/library-reference.ts > docs/library-reference.md`.
 * TypeScript emits the declarations; this file lists those that an entry exports.
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

const ENTRIES = [
  { entry: 'src/index', title: 'workron' },
  { entry: 'src/testing', title: 'workron/testing' },
  { entry: 'contract/index', title: 'workron/testing/contract' },
];

/** `types` is the folder with the declarations. */
export function libraryReference(types: string): string {
  const parts = ENTRIES.map(({ entry, title }) => `## ${title}\n\n${exportsOf(types, entry).join('\n\n')}\n`);
  return `${HEAD}\n${parts.join('\n')}`;
}

function compiled(): string {
  const folder = mkdtempSync(join(tmpdir(), 'workron-types-'));
  try {
    const args = ['-p', join(root, 'tsconfig.build.json'), '--outDir', folder, '--emitDeclarationOnly'];
    execFileSync(join(root, 'node_modules', '.bin', 'tsc'), args);
    return libraryReference(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const HEAD = `# Reference of the library

Every exported name with its type, as the compiler sees it. [library.md](library.md) says how to use them.
`;

/** The exported names of an entry, each once, in order. */
function exportsOf(folder: string, entry: string): string[] {
  const file = join(folder, `${entry}.d.ts`);
  const text = readFileSync(file, 'utf8');
  const found: string[] = [];
  for (const [, names = '', path = ''] of text.matchAll(/export (?:type )?\{([^}]+)\} from '([^']+)\.[jt]s'/g)) {
    const module = readFileSync(join(dirname(file), `${path}.d.ts`), 'utf8');
    // A list over several lines ends with a comma.
    const listed = names.split(',').map((part) => part.replace(/\btype\b/, '').trim());
    for (const name of listed.filter((part) => part !== '')) {
      const declarations = declarationsOf(module, name);
      // Types of the wire are described by the API's own documentation.
      const wire = declarations.some((text) => /\bz\.(Zod|output|input|infer)/.test(text));
      const body = wire ? `As the API has it: \`GET /openapi.json\`.` : `\`\`\`ts\n${declarations.join('\n')}\n\`\`\``;
      found.push(`### ${name}\n\n${body}`);
    }
  }
  return found;
}

/** The declarations of a name with their comments: several for overloads, or for a name that is a type and a value. */
function declarationsOf(module: string, name: string): string[] {
  const pattern = new RegExp(
    `^(?:export )?(?:declare )?(?:abstract )?(interface|type|class|function|const) ${name}\\b`,
    'gm',
  );
  return [...module.matchAll(pattern)].map((match) => {
    const end = endOf(module, match.index, match[1] === 'interface' || match[1] === 'class');
    const comment = /\/\*\*(?:(?!\*\/)[^])*\*\/\s*$/.exec(module.slice(0, match.index))?.[0] ?? '';
    const text = module.slice(match.index, end).replace(/^(export )?(declare )?/, '');
    return `${comment.trimEnd()}${comment === '' ? '' : '\n'}${text.replace(/^ +#private;\n/gm, '').replace(/^ {4}/gm, '  ')}`;
  });
}

/** The end of a declaration: its last closing brace, or a semicolon outside of all braces. */
function endOf(text: string, start: number, braced: boolean): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const letter = text[at] as string;
    if ('{([<'.includes(letter)) depth += 1;
    // The arrow of a function type is not a closing bracket.
    else if ('})]'.includes(letter) || (letter === '>' && text[at - 1] !== '=')) depth -= 1;
    if (depth === 0 && (letter === ';' || (braced && letter === '}'))) return at + 1;
  }
  throw new Error(`expected the end of a declaration, got none: ${text.slice(start, start + 80)}`);
}

if (import.meta.main) process.stdout.write(compiled());
