/**
 * Draws the figures of a race. `npm run bench:chart [-- FROM.json [TO.svg]]` draws the last one for docs/performance.md.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from '../measure.ts';
import { PROCESSOR } from './discipline.ts';
import { FOLDER } from './peers/installed.ts';
import type { Line } from './report.ts';

const ROW = 22;
const LABEL = 250;
const WIDTH = 760;
/** Space for the figure behind the longest bar. */
const VALUE = 110;
const COLORS = { ours: '#2563eb', peer: '#94a3b8', text: '#0f172a' };

/** Draws bars, one discipline below the other; those of Workron are darker. */
export function chart(lines: readonly Line[]): string {
  const parts: string[] = [];
  let y = 0;
  const drawn = lines.filter(({ cost, figure, rounds }) => rounds > 0 && (!cost || figure === PROCESSOR));
  for (const [title, group] of Map.groupBy(drawn, titleOf)) {
    y += ROW * 1.5;
    parts.push(`<text x="0" y="${y}" font-weight="bold">${escape(title)}</text>`);
    const longest = Math.max(...group.map(({ median }) => median));
    for (const { contender, median, unit, ours } of group) {
      y += ROW;
      const width = Math.max(1, Math.round(((WIDTH - LABEL - VALUE) * median) / (longest || 1)));
      parts.push(
        `<text x="0" y="${y}">${escape(contender)}</text>`,
        `<rect x="${LABEL}" y="${y - 13}" width="${width}" height="16" fill="${ours ? COLORS.ours : COLORS.peer}"/>`,
        `<text x="${LABEL + width + 6}" y="${y}">${format(median)} ${unit}</text>`,
      );
    }
  }
  const height = y + ROW;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="13" fill="${COLORS.text}">`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

function titleOf({ discipline, figure, lowerIsBetter }: Line): string {
  return lowerIsBetter ? `${discipline}: ${figure} (shorter is better)` : discipline;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

if (import.meta.main) {
  const [from = join(FOLDER, 'out', 'race.json'), to = join(FOLDER, '..', '..', 'docs', 'images', 'race.svg')] =
    process.argv.slice(2);
  const { lines } = JSON.parse(readFileSync(from, 'utf8')) as { lines: Line[] };
  writeFileSync(to, chart(lines));
  console.log(`drawn: ${to}`);
}
