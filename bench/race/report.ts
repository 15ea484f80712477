/** The result of a race: figures, goals, a table. */

import { format, median } from '../measure.ts';
import { CONTENDERS } from './contender.ts';
import { finite, type Result, ratioOf } from './hold.ts';

export interface Line {
  discipline: string;
  contender: string;
  figure: string;
  unit: string;
  rounds: number;
  median: number;
  min: number;
  max: number;
  ours: boolean;
  /** The ratio of Workron to this contender. */
  ratio: number | null;
  goal: number | null;
  met: boolean | null;
}

export function linesOf(result: Result): Line[] {
  const { discipline, values } = result;
  return discipline.figures.flatMap((figure, place) =>
    [...values].map(([name, rounds]): Line => {
      const own = finite(rounds[place]);
      const ratio = name === discipline.contenders[0] ? null : (ratioOf(result, name, place) ?? null);
      const goal = discipline.goals.find((one) => one.against === name && (one.figure ?? 0) === place)?.ratio ?? null;
      const met = goal === null || ratio === null ? null : discipline.lowerIsBetter ? ratio <= goal : ratio >= goal;
      return {
        discipline: discipline.title,
        contender: CONTENDERS[name].title,
        figure,
        unit: discipline.unit,
        rounds: own.length,
        median: own.length === 0 ? 0 : median(own),
        min: own.length === 0 ? 0 : Math.min(...own),
        max: own.length === 0 ? 0 : Math.max(...own),
        ours: name === discipline.contenders[0],
        ratio,
        goal,
        met,
      };
    }),
  );
}

/** The table for the terminal and docs/performance.md. */
export function markdown(lines: readonly Line[]): string {
  const rows = lines.map((line) => [
    [line.discipline, line.figure].filter(Boolean).join(', '),
    line.contender,
    `${format(line.median)} ${line.unit}`,
    `${format(line.min)} … ${format(line.max)}`,
    line.ratio === null ? '' : `${line.ratio.toFixed(2)}×`,
    line.goal === null ? '' : `${line.goal}× ${line.met ? 'met' : 'not met'}`,
  ]);
  const head = ['what', 'who', 'median', 'spread', 'Workron against it', 'goal'];
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
