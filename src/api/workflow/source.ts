/** Parses the text of a file as YAML (JSON is YAML), and finds the line and column of a value. */

import {
  Alias,
  type Document,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Pair,
  parseDocument,
  visit,
} from 'yaml';
import { findUnclean } from '../../core/text.ts';

export type SourcePath = readonly (string | number)[];

/** A finding about one place in the value. */
export interface SourceFinding {
  severity: 'error' | 'warning';
  message: string;
  path: SourcePath;
  /** Which end of the path is meant: its key or its value. */
  at: 'key' | 'value';
}

/** A finding with its place in the text. Lines and columns count from 1. */
export interface SourceProblem {
  severity: 'error' | 'warning';
  message: string;
  line: number;
  column: number;
  /** The number of characters of the line that are meant. */
  length: number;
  sourceLine: string;
}

/** Further problems are left out: the first ones are enough to find the mistake. */
export const MAX_PROBLEMS = 100;
/** How many characters all aliases of a file may stand for. */
const MAX_ALIASED_LENGTH = 4 * 1024 * 1024;
const TOO_DEEP = 'nested too deeply';
const TOO_MANY_ALIASES = 'too many aliases';

/** The offsets of the first character and of the one after the last. */
type Range = readonly [from: number, to: number];

export class WorkflowSource {
  /** The parsed value, if there are no problems. */
  readonly value: unknown;
  /** The problems that prevent parsing, at most `MAX_PROBLEMS`. */
  readonly problems: SourceProblem[];
  /** How many such problems are left out. */
  readonly more: number = 0;
  readonly #text: string;
  readonly #lines: LineStarts;
  readonly #document: Document | undefined;
  /** What each alias stands for. */
  readonly #targets = new Map<unknown, unknown>();
  /** The pairs of maps by key, of maps in which something was located. */
  readonly #pairs = new Map<readonly Pair[], ReadonlyMap<string | undefined, Pair>>();

  constructor(text: string) {
    this.#text = text;
    this.#lines = new LineStarts(text);
    try {
      this.#document = parseDocument(text, {
        prettyErrors: false,
        merge: true,
        // The parser's own check compares each key with all others.
        uniqueKeys: false,
        logLevel: 'error',
      });
      const found = this.#syntaxProblems(this.#document);
      this.problems = found.slice(0, MAX_PROBLEMS).map(([message, range]) => this.#problem('error', message, range));
      this.more = found.length - this.problems.length;
      if (found.length > 0) return;
      this.value = this.#document.toJS() as unknown;
      this.problems = this.#uncleanText();
    } catch (error) {
      // The parser is recursive, and aliases are resolved only by toJS.
      this.problems = [this.#problem('error', plainMessage((error as Error).message), [0, 0])];
    }
  }

  /** Finds the place of a finding in the text; if there is none, the nearest place around it. */
  locate(finding: SourceFinding): SourceProblem {
    return this.#problem(finding.severity, finding.message, this.#rangeOf(finding));
  }

  #syntaxProblems(document: Document): [message: string, Range][] {
    const problems = [...document.errors, ...document.warnings].map(({ message, pos }): [string, Range] => [
      plainMessage(message),
      pos,
    ]);
    // Errors after the parser gave up are misleading.
    const tooDeep = problems.find(([message]) => message === TOO_DEEP);
    if (tooDeep !== undefined) return [tooDeep];
    const anchors = new Map<string, unknown>();
    visit(document, {
      Node: (_, node) => {
        if (node.anchor !== undefined) anchors.set(node.anchor, node);
        if (isMap(node)) for (const problem of keyProblems(node.items)) problems.push(problem);
      },
      Alias: (_, alias) => {
        const target = anchors.get(alias.source);
        if (target === undefined)
          problems.push([`there is no anchor &${alias.source} before this`, rangeOfNode(alias)]);
        else this.#targets.set(alias, target);
      },
    });
    for (const [alias, target] of this.#targets) resolveTo(alias as Alias, target);
    if (problems.length === 0 && this.#lengthOf(document.contents, new Map()) > this.#text.length + MAX_ALIASED_LENGTH)
      problems.push([TOO_MANY_ALIASES, [0, 0]]);
    return problems;
  }

  /** The number of characters with what aliases stand for in their places. */
  #lengthOf(node: unknown, known: Map<unknown, number>): number {
    // One that stands for what it is in has no end, and is refused for its depth.
    if (node instanceof Alias) return known.get(this.#targets.get(node)) ?? 1;
    if (isPair(node)) return this.#lengthOf(node.key, known) + this.#lengthOf(node.value, known);
    if (!isCollection(node)) {
      const [from, to] = rangeOfNode(node);
      known.set(node, to - from + 1);
      return to - from + 1;
    }
    let length = 1;
    for (const item of node.items) length += this.#lengthOf(item, known);
    known.set(node, length);
    return length;
  }

  #uncleanText(): SourceProblem[] {
    const unclean = findUnclean(this.value);
    if (unclean === undefined) return [];
    const path = unclean.pointer
      .split('/')
      .slice(1)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    return [this.locate({ severity: 'error', message: unclean.detail, path, at: 'value' })];
  }

  #rangeOf({ path, at }: SourceFinding): Range {
    let node: unknown = this.#document?.contents;
    let range = rangeOfNode(node);
    for (const [depth, step] of path.entries()) {
      if (this.#targets.has(node)) node = this.#targets.get(node);
      if (isMap(node)) {
        const pair = this.#pairsOf(node.items).get(String(step));
        if (pair === undefined) break;
        node = pair.value;
        const last = depth === path.length - 1;
        // A value that is a block is better shown by its key.
        range = rangeOfNode((last && at === 'key') || isEmpty(node) || (last && isBlock(node)) ? pair.key : node);
      } else if (isSeq(node)) {
        node = node.items[Number(step)];
        if (node === undefined) break;
        range = rangeOfNode(node);
      } else {
        break;
      }
    }
    return range;
  }

  #pairsOf(items: readonly Pair[]): ReadonlyMap<string | undefined, Pair> {
    const known = this.#pairs.get(items) ?? new Map(items.map((pair) => [keyOf(pair), pair]));
    this.#pairs.set(items, known);
    return known;
  }

  #problem(severity: SourceProblem['severity'], message: string, [from, to]: Range): SourceProblem {
    const { line, column, end } = this.#lines.placeOf(from);
    const lineText = this.#text.slice(from - (column - 1), end);
    const sourceLine = lineText.endsWith('\r') ? lineText.slice(0, -1) : lineText;
    const length = Math.max(1, Math.min(to - from, sourceLine.trimEnd().length - (column - 1)));
    return { severity, message, line, column, length, sourceLine };
  }
}

function keyProblems(pairs: readonly Pair[]): [message: string, Range][] {
  const seen = new Set<string>();
  return pairs.flatMap((pair): [string, Range][] => {
    const key = keyOf(pair);
    if (key === undefined) return [['expected a plain name as key', rangeOfNode(pair.key)]];
    if (seen.has(key)) return [[`duplicate key "${key}"`, rangeOfNode(pair.key)]];
    seen.add(key);
    return [];
  });
}

/** For each alias the parser would search all anchors and aliases of the document. This gives it the one to find. */
function resolveTo(alias: Alias, target: unknown): void {
  const resolve = alias.resolve.bind(alias);
  alias.resolve = (document, context) =>
    context === undefined
      ? (target as ReturnType<Alias['resolve']>)
      : resolve(document, Object.assign(context, { aliasResolveCache: [target as Alias] }));
}

function keyOf({ key }: Pair): string | undefined {
  return isScalar(key) ? String(key.value) : undefined;
}

function isEmpty(node: unknown): boolean {
  return node === null || node === undefined || (isScalar(node) && node.value === null);
}

function isBlock(node: unknown): boolean {
  return isCollection(node) && node.flow !== true;
}

/** A collection is shown by its first character. */
function rangeOfNode(node: unknown): Range {
  if (typeof node !== 'object' || node === null || !('range' in node) || !Array.isArray(node.range)) return [0, 0];
  const [from, to] = node.range as [number, number];
  return isCollection(node) ? [from, from + 1] : [from, to];
}

/** Rewrites the parser's messages, which are meant for its callers. */
function plainMessage(message: string): string {
  return message
    .replace(/^Source contains multiple documents.*/, 'expected one document, found a second one')
    .replace(/^Unresolved tag: (.*)/, 'unknown tag $1')
    .replace(/"quote$/, '" quote')
    .replace(/^Maximum call stack size exceeded.*/, TOO_DEEP)
    .replace(/^Excessive alias count.*/, TOO_MANY_ALIASES)
    .replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}

/** The offsets at which lines begin. The YAML parser's own line count misses line ends inside text that it cannot parse. */
class LineStarts {
  readonly #starts: number[] = [0];

  constructor(text: string) {
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) this.#starts.push(end + 1);
  }

  /** Line and column count from 1; `end` is the offset of the line feed, if there is one. */
  placeOf(offset: number): { line: number; column: number; end: number | undefined } {
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    const next = this.#starts[low + 1];
    const end = next === undefined ? undefined : next - 1;
    return { line: low + 1, column: offset - (this.#starts[low] as number) + 1, end };
  }
}
