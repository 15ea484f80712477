/** Reads source files for tests about the code itself: lengths, exported names and who imports them. */

import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync } from 'vite';

export const root = join(import.meta.dirname, '..', '..');

export interface ScannedFunction {
  /** The function's name, or `(line N)` if it has none. */
  name: string;
  lines: number;
}

export interface ScannedExport {
  name: string;
  isType: boolean;
}

export interface Use {
  /** The imported file, relative to the repository. */
  file: string;
  /** The imported name; undefined if the whole module is imported. */
  name?: string;
  /** True for `export type *`, which passes on types and nothing else. */
  typesOnly?: boolean;
}

export interface SourceFile {
  path: string;
  lines: number;
  functions: ScannedFunction[];
  exports: ScannedExport[];
  uses: Use[];
}

interface Node {
  type: string;
  start: number;
  end: number;
  [key: string]: unknown;
}

type ModuleRecord = ReturnType<typeof parseSync>['module'];

/** Parses the TypeScript files in `folders`, with paths relative to the repository. */
export function scanSources(folders: readonly string[]): SourceFile[] {
  return folders.flatMap((folder) =>
    globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root, exclude: ['**/node_modules'] })
      .sort()
      .map(scanFile),
  );
}

function scanFile(path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8');
  const { program, module, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const lineOf = lineCounter(text);
  const functions: ScannedFunction[] = [];
  const uses = importsOf(path, module);
  visit(program as unknown as Node, undefined, (node, parent) => {
    if (isFunction(node)) {
      const lines = lineOf(node.end) - lineOf(node.start) + 1;
      functions.push({ name: nameOf(node, parent) ?? `(line ${lineOf(node.start)})`, lines });
    }
    uses.push(...onDemandImports(path, node, text));
  });
  return { path, lines: text.split('\n').length - 1, functions, exports: exportsOf(module), uses };
}

function lineCounter(text: string): (offset: number) => number {
  const starts = [0];
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  return (offset) => starts.findLastIndex((start) => start <= offset) + 1;
}

function visit(node: Node, parent: Node | undefined, found: (node: Node, parent: Node | undefined) => void): void {
  found(node, parent);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) visit(child, node, found);
    }
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
}

/** A function with a body: overloads and abstract methods have none. */
function isFunction({ type, body }: Node): boolean {
  return ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'].includes(type) && isNode(body);
}

/** The function's own name, or the name of the variable, property or method that holds it. */
function nameOf(node: Node, parent: Node | undefined): string | undefined {
  const named = [node['id'], parent?.['id'], parent?.['key']].find(isNode);
  const name = named?.['name'] ?? named?.['value'];
  return typeof name === 'string' ? name : undefined;
}

function exportsOf({ staticExports }: ModuleRecord): ScannedExport[] {
  return staticExports
    .flatMap(({ entries }) => entries)
    .filter(({ exportName }) => exportName.kind !== 'None')
    .map(({ exportName, isType }) => ({ name: exportName.name ?? 'default', isType }));
}

/** The names that `import … from` and `export … from` statements take from other files of the repository. */
function importsOf(path: string, { staticImports, staticExports }: ModuleRecord): Use[] {
  const uses: Use[] = [];
  const add = (specifier: string | undefined, kind: string, name: string | null, typesOnly: boolean) => {
    if (specifier === undefined || !specifier.startsWith('.')) return;
    const file = join(dirname(path), specifier);
    if (kind === 'Name' || kind === 'Default') uses.push({ file, name: name ?? 'default' });
    else uses.push({ file, typesOnly });
  };
  for (const { moduleRequest, entries } of staticImports) {
    for (const { importName } of entries) {
      add(moduleRequest.value, importName.kind, importName.name ?? null, false);
    }
  }
  for (const { entries } of staticExports) {
    for (const { moduleRequest, importName, isType } of entries) {
      add(moduleRequest?.value, importName.kind, importName.name ?? null, isType);
    }
  }
  return uses;
}

/** `import('./x.ts')`, as a call or as a type: uses every export of the file whose name appears in `text`. */
function onDemandImports(path: string, node: Node, text: string): Use[] {
  if (node.type !== 'ImportExpression' && node.type !== 'TSImportType') return [];
  const source = node['source'];
  const specifier = isNode(source) ? source['value'] : undefined;
  if (typeof specifier !== 'string' || !specifier.startsWith('.')) return [];
  const file = join(dirname(path), specifier);
  return [...new Set(text.match(/[\w$]+/g))].map((name) => ({ file, name }));
}
