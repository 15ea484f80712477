/** Shell lines made of words. */

/** The shell line of a job. One argument is a shell line already; several are quoted, so that the command gets them as typed. */
export function commandOf(words: readonly string[]): string {
  return words.length === 1 ? (words[0] as string) : words.map(quote).join(' ');
}

/** A word that a shell takes as it is. */
export function quote(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
