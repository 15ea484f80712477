/** What a race came to: a table, goals, and a chart. */

import { format, median } from '../measure.ts';
import { CONTENDERS } from './contender.ts';
import { type Result, ratioOf } from './hold.ts';

export interface Line {
  discipline: string;
  contender: string;
  figure: string;
  unit: string;
  median: number;
  least: number;
  most: number;
  /** Ours against this one. */
  ratio: number | null;
  goal: number | null;
  met: boolean | null;
}

export function linesOf(result: Result): Line[] {
  const { discipline, values } = result;
  return discipline.figures.flatMap((figure, place) =>
    [...values].map(([name, rounds]): Line => {
      const own = rounds[place] as number[];
      const ratio = name === discipline.contenders[0] ? null : (ratioOf(result, name, place) ?? null);
      const goal = discipline.goals.find((one) => one.against === name && (one.figure ?? 0) === place)?.ratio ?? null;
      const met = goal === null || ratio === null ? null : discipline.lowerIsBetter ? ratio <= goal : ratio >= goal;
      return {
        discipline: discipline.title,
        contender: CONTENDERS[name].title,
        figure,
        unit: discipline.unit,
        median: median(own),
        least: Math.min(...own),
        most: Math.max(...own),
        ratio,
        goal,
        met,
      };
    }),
  );
}

/** For people and for docs/performance.md. */
export function markdown(lines: readonly Line[]): string {
  const rows = lines.map((line) => [
    [line.discipline, line.figure].filter(Boolean).join(', '),
    line.contender,
    `${format(line.median)} ${line.unit}`,
    `${format(line.least)} … ${format(line.most)}`,
    line.ratio === null ? '' : `${line.ratio.toFixed(2)}×`,
    line.goal === null ? '' : `${line.goal}× ${line.met ? 'met' : 'not met'}`,
  ]);
  const head = ['what', 'who', 'median', 'spread', 'Workron against it', 'goal'];
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

const ROW = 22;
const LABEL = 220;
const WIDTH = 760;

/** Bars of jobs per second, ours darker. One discipline below the other. */
export function chart(results: readonly Result[]): string {
  const parts: string[] = [];
  let y = 0;
  for (const { discipline, values } of results) {
    if (discipline.lowerIsBetter) continue;
    y += ROW * 1.5;
    parts.push(`<text x="0" y="${y}" font-weight="bold">${discipline.title} (${discipline.unit})</text>`);
    const bars = [...values].map(([name, rounds]) => ({ name, value: median(rounds[0] as number[]) }));
    const most = Math.max(...bars.map(({ value }) => value));
    for (const { name, value } of bars) {
      y += ROW;
      const width = Math.max(1, Math.round(((WIDTH - LABEL - 90) * value) / most));
      const fill = name.startsWith('workron') ? '#2563eb' : '#94a3b8';
      parts.push(
        `<text x="0" y="${y}">${CONTENDERS[name].title}</text>`,
        `<rect x="${LABEL}" y="${y - 13}" width="${width}" height="16" fill="${fill}"/>`,
        `<text x="${LABEL + width + 6}" y="${y}">${format(value)}</text>`,
      );
    }
  }
  const size = `width="${WIDTH}" height="${y + ROW}" viewBox="0 0 ${WIDTH} ${y + ROW}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="system-ui, sans-serif" font-size="13">`,
    `<rect width="${WIDTH}" height="${y + ROW}" fill="#ffffff"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}
