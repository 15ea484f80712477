import { useEffect, useState } from 'react';
import { type LogLines, plainText } from './log-lines.ts';

const SLICE_MS = 8;
const MAX_MATCHES = 50_000;

/** The indexes of the lines that contain the text, found in small steps so that the page stays responsive. */
export function useSearch(lines: LogLines, version: number, wanted: string): readonly number[] {
  const [found, setFound] = useState<{ lines: LogLines; wanted: string; upTo: number; matches: number[] }>();
  useEffect(() => {
    if (wanted === '') return setFound(undefined);
    const lower = wanted.toLowerCase();
    const known = found?.lines === lines && found.wanted === wanted ? found : undefined;
    const matches = [...(known?.matches ?? [])];
    let index = known?.upTo ?? 0;
    let timer: ReturnType<typeof setTimeout>;
    const look = (): void => {
      const until = performance.now() + SLICE_MS;
      // The last line may still grow, so it is searched again.
      while (index < lines.length - 1 && performance.now() < until) {
        for (const end = Math.min(index + 500, lines.length - 1); index < end; index += 1) {
          const line = lines.at(index);
          if (line !== undefined && matches.length < MAX_MATCHES && plainText(line).toLowerCase().includes(lower)) {
            matches.push(index);
          }
        }
      }
      if (index < lines.length - 1) timer = setTimeout(look);
      else setFound({ lines, wanted, upTo: index, matches: withLast(lines, matches, lower) });
    };
    timer = setTimeout(look, 50);
    return () => clearTimeout(timer);
    // `found` is only the starting point of the next search, not a dependency.
  }, [lines, version, wanted]);
  return found?.lines === lines && found.wanted === wanted ? found.matches : [];
}

function withLast(lines: LogLines, matches: number[], lower: string): number[] {
  const last = lines.length - 1;
  const line = lines.at(last);
  if (line === undefined || matches.at(-1) === last || !plainText(line).toLowerCase().includes(lower)) return matches;
  return [...matches, last];
}
