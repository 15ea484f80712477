/** Text of jobs in which invisible characters and direction overrides are replaced by visible names. */

// Direction overrides, zero-width characters, line separators, byte order mark.
const UNSEEN = /[\u061c\u200b-\u200f\u2028\u2029\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g;
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const JOINER = '\u200d';

export function visibleText(text: string): string {
  return text
    .replace(UNSEEN, (character) => (character === JOINER ? character : codePoint(character)))
    .replace(CONTROL, (character) => {
      const code = character.charCodeAt(0);
      if (code < 0x20) return String.fromCharCode(0x2400 + code);
      return code === 0x7f ? '\u2421' : codePoint(character);
    });
}

/** The same on one line. */
export function visibleLine(text: string): string {
  return visibleText(text.replace(/[\t\n]+/g, ' '));
}

function codePoint(character: string): string {
  return `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

/** How somebody is logged in; `token` is the name of the server's own token. */
export function loginText(name: string): string {
  return name === 'token' ? 'Logged in with the server token' : `Logged in as ${visibleLine(name)}`;
}
