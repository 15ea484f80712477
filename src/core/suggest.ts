/** "Did you mean": finds the known word closest to a misspelt one. */

/** Returns `did you mean X?`, or `undefined` if no word is close. */
export function didYouMean(word: string, known: readonly string[]): string | undefined {
  const nearest = nearestWord(word, known);
  return nearest === undefined ? undefined : `did you mean ${nearest}?`;
}

/**
 * Returns the closest word within about a third of its length, else the only word with this prefix, else `undefined`.
 */
export function nearestWord(word: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const allowed = Math.max(1, Math.ceil(candidate.length / 3));
    if (Math.abs(word.length - candidate.length) > allowed) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance && distance <= allowed) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best ?? onlyBeginning(word.toLowerCase(), known);
}

function onlyBeginning(start: string, known: readonly string[]): string | undefined {
  const found = start.length < 2 ? [] : known.filter((candidate) => candidate.toLowerCase().startsWith(start));
  return found.length === 1 ? found[0] : undefined;
}

/** How many words of one document get a suggestion: each is compared with all known words. */
const MAX_SUGGESTIONS = 20;
/** How many names a message lists. */
const MAX_NAMES = 50;

/** Suggestions for the words of one document, of which there may be many. */
export class Suggestions {
  readonly #known: readonly string[];
  #made = 0;

  constructor(known: readonly string[]) {
    this.#known = known;
  }

  /** Like `nearestWord`, for the first words. */
  nearest(word: string): string | undefined {
    this.#made += 1;
    return this.#made > MAX_SUGGESTIONS ? undefined : nearestWord(word, this.#known);
  }

  /** ` (did you mean "X"?)`, or nothing. */
  hint(word: string): string {
    const near = this.nearest(word);
    return near === undefined ? '' : ` (did you mean "${near}"?)`;
  }
}

/** A list of names for a message; a long one is cut. */
export function knownNames(names: readonly string[]): string {
  const more = names.length > MAX_NAMES ? `, and ${names.length - MAX_NAMES} more` : '';
  return `${names.slice(0, MAX_NAMES).join(', ')}${more}`;
}

/** The number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`. */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 8 || a.length > 64) return Number.POSITIVE_INFINITY;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let value = Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, (last[j - 1] as number) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        value = Math.min(value, (beforeLast[j - 2] as number) + 1);
      }
      row.push(value);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] as number;
}
