import Anser, { type AnserJsonEntry } from 'anser';
import type { CSSProperties } from 'react';
import { visibleText } from '../../words/visible-text.ts';
import type { LogLine } from './log-lines.ts';

/** One line with its colours. The output is rendered as text only, never as markup. */
export function LogText({ line, mark }: { line: LogLine; mark: string }) {
  if (line.note) return <em className="log-note">{line.text}</em>;
  const source = line.colour + line.text;
  const spans = source.includes('\u001b')
    ? Anser.ansiToJson(source, { json: true, remove_empty: true, use_classes: true })
    : [null];
  return (
    <>
      {spans.map((span, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: spans have no other name
        <span
          key={index}
          className={span === null ? undefined : classesOf(span)}
          style={span === null ? undefined : styleOf(span)}
        >
          <Marked text={visibleText(span === null ? source : span.content)} mark={mark} />
        </span>
      ))}
    </>
  );
}

function Marked({ text, mark }: { text: string; mark: string }) {
  if (mark === '') return text;
  const parts: (string | { found: string })[] = [];
  const lower = text.toLowerCase();
  const wanted = mark.toLowerCase();
  let from = 0;
  for (let at = lower.indexOf(wanted); at !== -1 && parts.length < 200; at = lower.indexOf(wanted, from)) {
    parts.push(text.slice(from, at), { found: text.slice(at, at + wanted.length) });
    from = at + wanted.length;
  }
  parts.push(text.slice(from));
  return parts.map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text
    typeof part === 'string' ? part : <mark key={index}>{part.found}</mark>,
  );
}

function classesOf({ fg, bg, decorations }: AnserJsonEntry): string {
  const names = decorations.map((name) => `ansi-${name}`);
  if (fg && !isFree(fg)) names.push(fg);
  if (bg && !isFree(bg)) names.push(`${bg}-bg`);
  return names.join(' ');
}

/** Styles of colours that have no class. */
function styleOf({ fg, bg, fg_truecolor, bg_truecolor }: AnserJsonEntry): CSSProperties | undefined {
  const colour = rgb(fg, fg_truecolor);
  const background = rgb(bg, bg_truecolor);
  if (colour === undefined && background === undefined) return undefined;
  return { ...(colour && { color: colour }), ...(background && { backgroundColor: background }) };
}

function isFree(name: string): boolean {
  return name === 'ansi-truecolor' || name.startsWith('ansi-palette-');
}

function rgb(name: string | null, trueColour: string | null): string | undefined {
  if (name === 'ansi-truecolor' && trueColour) return `rgb(${trueColour})`;
  const index = /^ansi-palette-(\d+)$/.exec(name ?? '')?.[1];
  return index === undefined ? undefined : paletteColour(Number(index));
}

/** The 6×6×6 cube and the greys of xterm. */
function paletteColour(index: number): string {
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return `rgb(${grey}, ${grey}, ${grey})`;
  }
  const level = (value: number): number => (value === 0 ? 0 : 55 + value * 40);
  const cube = index - 16;
  return `rgb(${level(Math.floor(cube / 36))}, ${level(Math.floor(cube / 6) % 6)}, ${level(cube % 6)})`;
}
