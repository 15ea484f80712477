/**
 * Generates docs/library-reference.md from the types: `node test/kit/library-reference.ts > docs/library-reference.md`.
 * TypeScript emits the declarations; this file lists those that an entry exports.
 */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { declarations } from '../../build/declarations.ts';
import { messageText, operationsTable } from './message-text.ts';

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
    declarations(folder);
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
  const exported = reexportsOf(file);
  const shown = new Set(exported.map(({ name }) => name));
  return exported.map(({ name, file: from }) => {
    const declared = declaredIn(from, name);
    if (declared.texts.length === 0) throw new Error(`expected a declaration of ${name} in ${from}, got none`);
    const message = declared.texts.some((text) => /= Camel</.test(text)) ? [messageText(name, shown)] : undefined;
    const text = `### ${name}\n\n\`\`\`ts\n${(message ?? [...declared.texts, ...usedBy(declared, shown)]).join('\n')}\n\`\`\``;
    return name === 'ApiCalls' ? `${text}\n\n${operationsTable()}` : text;
  });
}

interface Declared {
  module: string;
  texts: string[];
}

/** The names that a file exports from others, and those files. */
function reexportsOf(file: string): { name: string; file: string }[] {
  const text = readFileSync(file, 'utf8');
  const lists = text.matchAll(/export (?:type )?\{([^}]+)\} from '([^']+)\.[jt]s'/g);
  return [...lists].flatMap(([, names = '', path = '']) => {
    const from = join(dirname(file), `${path}.d.ts`);
    // A list over several lines ends with a comma.
    const listed = names.split(',').map((part) => part.replace(/\btype\b/, '').trim());
    return listed.filter((part) => part !== '').map((name) => ({ name, file: from }));
  });
}

/** The declarations of a name in a file, or where the file has it from. */
function declaredIn(file: string, name: string): Declared {
  const module = readFileSync(file, 'utf8');
  const texts = declarationsOf(module, name);
  const from = reexportsOf(file).find((one) => one.name === name);
  return texts.length > 0 || from === undefined ? { module, texts } : declaredIn(from.file, name);
}

/** Types of the same module that a declaration uses and no entry exports, each where it is used first. */
function usedBy({ module, texts }: Declared, shown: Set<string>): string[] {
  const code = texts.join('\n').replaceAll(/\/\*\*[^]*?\*\//g, '');
  const names = new Set([...code.matchAll(/\b[A-Z]\w+/g)].map(([name]) => name));
  return [...names].flatMap((name) => {
    const used = shown.has(name) ? [] : declarationsOf(module, name);
    if (used.length === 0) return [];
    shown.add(name);
    return [...used, ...usedBy({ module, texts: used }, shown)];
  });
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
