/** From what stands after `--` to the shell line that a job runs. */

/** One argument is a shell line already; several are a command and its arguments, quoted so that they arrive as typed. */
export function commandOf(words: readonly string[]): string {
  return words.length === 1 ? (words[0] as string) : words.map(quote).join(' ');
}

function quote(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
