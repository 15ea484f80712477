/** The line of an error that tells what went wrong. */

/** How a command ended; the lines after it are the end of its output. */
const HOW = /^(?:exit \d+|signal \w+|timed out\b)/;

/** Frames, banners of runtimes and lines without a word tell nothing. */
const SILENT = /^(?:[^\p{L}]*|Node\.js v[\d.]+|exit status \d+|goroutine \d+ .*|main\.main\(\))$/u;

/** Output of both streams is mixed, so an error may stand before lines that clean up. */
const TELLS = /error|exception|panic|fatal|fail|denied|refused|cannot|can't|not found|no such|unable|invalid/i;

/** `exit 7: no space left on device`; for an error of a handler its first line. */
export function failureLine(error: string): string {
  const [how = '', ...rest] = error.split('\n');
  if (!HOW.test(how)) return how.trim();
  const words = rest.filter((line) => !SILENT.test(line.trim()));
  // What is indented belongs to a line above.
  const outer = words.filter((line) => !/^\s/.test(line));
  const lines = (outer.length === 0 ? words : outer).map((line) => line.trim());
  const line = lines.findLast((each) => TELLS.test(each)) ?? lines.at(-1);
  return line === undefined ? how : `${how}: ${line}`;
}
