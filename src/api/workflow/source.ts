/** Parses the text of a file as YAML (JSON is YAML), and finds the line and column of a value. */

import { type Document, isAlias, isCollection, isMap, isScalar, isSeq, type Pair, parseDocument, visit } from 'yaml';
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

const TOO_DEEP = 'nested too deeply';

/** The offsets of the first character and of the one after the last. */
type Range = readonly [from: number, to: number];

export class WorkflowSource {
  /** The parsed value, if there are no problems. */
  readonly value: unknown;
  /** The problems that prevent parsing. */
  readonly problems: SourceProblem[];
  readonly #text: string;
  readonly #lines: LineStarts;
  readonly #document: Document | undefined;

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
      this.problems = this.#syntaxProblems(this.#document);
      if (this.problems.length > 0) return;
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

  #syntaxProblems(document: Document): SourceProblem[] {
    const problems = [...document.errors, ...document.warnings].map(({ message, pos }) =>
      this.#problem('error', plainMessage(message), pos),
    );
    // Errors after the parser gave up are misleading.
    const tooDeep = problems.find(({ message }) => message === TOO_DEEP);
    if (tooDeep !== undefined) return [tooDeep];
    visit(document, {
      Alias: (_, alias) => {
        if (alias.resolve(document) === undefined)
          problems.push(this.#problem('error', `there is no anchor &${alias.source} before this`, rangeOfNode(alias)));
      },
      Map: (_, map) => {
        const seen = new Set<string>();
        for (const pair of map.items) {
          const key = keyOf(pair);
          if (key === undefined)
            problems.push(this.#problem('error', 'expected a plain name as key', rangeOfNode(pair.key)));
          else if (seen.has(key))
            problems.push(this.#problem('error', `duplicate key "${key}"`, rangeOfNode(pair.key)));
          else seen.add(key);
        }
      },
    });
    return problems;
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
      if (isAlias(node) && this.#document !== undefined) node = node.resolve(this.#document);
      if (isMap(node)) {
        const pair = node.items.find((each) => keyOf(each) === String(step));
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

  #problem(severity: SourceProblem['severity'], message: string, [from, to]: Range): SourceProblem {
    const { line, column } = this.#lines.placeOf(from);
    const start = from - (column - 1);
    const sourceLine = /^[^\r\n]*/.exec(this.#text.slice(start))?.[0] ?? '';
    const length = Math.max(1, Math.min(to - from, sourceLine.trimEnd().length - (column - 1)));
    return { severity, message, line, column, length, sourceLine };
  }
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
    .replace(/^Excessive alias count.*/, 'too many aliases')
    .replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}

/** The offsets at which lines begin. The YAML parser's own line count misses line ends inside text that it cannot parse. */
class LineStarts {
  readonly #starts: number[] = [0];

  constructor(text: string) {
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) this.#starts.push(end + 1);
  }

  /** Line and column count from 1. */
  placeOf(offset: number): { line: number; column: number } {
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (this.#starts[low] as number) + 1 };
  }
}
