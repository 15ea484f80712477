/** The result of a race: figures, goals, a table per discipline. */

import { format, median } from '../measure.ts';
import { type ContenderName, entryOf } from './contender.ts';
import { COSTS, figuresOf, PROCESSOR } from './discipline.ts';
import { finite, type Result, ratioOf } from './hold.ts';
import { SETTINGS, STATEMENTS } from './settings.ts';

/** One figure of one contender. */
export interface Line {
  discipline: string;
  contender: string;
  figure: string;
  unit: string;
  rounds: number;
  median: number;
  least: number;
  most: number;
  ours: boolean;
  /** Not a Workron in another form. */
  peer: boolean;
  /** A cost beside the rate: processor time, write-ahead log. */
  cost: boolean;
  lowerIsBetter: boolean;
  /** Ours divided by this one. */
  ratio: number | null;
  goal: number | null;
  met: boolean | null;
}

export function linesOf(result: Result): Line[] {
  const { discipline, values } = result;
  const names = discipline.contenders.filter((name) => values.has(name));
  return figuresOf(discipline).flatMap(({ name: figure, unit, lowerIsBetter }, place) =>
    names.map((name): Line => {
      const own = finite(values.get(name)?.[place]);
      const ours = name === discipline.contenders[0];
      const ratio = ours ? null : (ratioOf(result, name, place) ?? null);
      const goal = discipline.goals.find((one) => one.against === name && one.figure === figure)?.ratio ?? null;
      return {
        discipline: discipline.title,
        contender: entryOf(name).title,
        figure,
        unit,
        rounds: own.length,
        median: own.length === 0 ? 0 : median(own),
        least: own.length === 0 ? 0 : Math.min(...own),
        most: own.length === 0 ? 0 : Math.max(...own),
        ours,
        peer: !name.startsWith('workron'),
        cost: COSTS.some((cost) => cost.name === figure),
        lowerIsBetter,
        ratio,
        goal,
        met: goal === null || ratio === null ? null : lowerIsBetter ? ratio <= goal : ratio >= goal,
      };
    }),
  );
}

/** The best of the others by the median of this figure. */
export function bestPeer(lines: readonly Line[], figure: string): Line | undefined {
  const peers = lines.filter((line) => line.peer && line.figure === figure && line.rounds > 0);
  return peers.reduce<Line | undefined>((best, line) => {
    if (best === undefined) return line;
    return line.median < best.median === line.lowerIsBetter ? line : best;
  }, undefined);
}

/** For people and for docs/performance.md: a table per discipline, then the settings. */
export function markdown(lines: readonly Line[]): string {
  const tables = [...Map.groupBy(lines, ({ discipline }) => discipline)].map(([title, group]) =>
    [`### ${title}`, '', tableOf(group), '', ...bestOf(group)].join('\n'),
  );
  return [...tables, `### Settings\n\n${settings()}`].join('\n\n');
}

function tableOf(group: readonly Line[]): string {
  const figures = [...Map.groupBy(group, ({ figure }) => figure).values()].filter((one) =>
    one.some(({ rounds }) => rounds > 0),
  );
  const head = figures.flatMap(([line]) => [
    `${line?.figure}, ${line?.unit}`,
    // The two parts of processor time are not compared on their own.
    ...(isCompared(line) ? ['Workron ÷ it'] : []),
  ]);
  const names = [...new Set(group.map(({ contender }) => contender))];
  const rows = names.map((name) => [
    name,
    ...figures.flatMap((column) => {
      const line = column.find(({ contender }) => contender === name);
      return [valueOf(line), ...(isCompared(line ?? column[0]) ? [ratioText(line)] : [])];
    }),
  ]);
  return [['', ...head], ['---', ...head.map(() => '---')], ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function isCompared(line: Line | undefined): boolean {
  return line !== undefined && (!line.cost || line.figure === PROCESSOR);
}

function valueOf(line: Line | undefined): string {
  if (line === undefined || line.rounds === 0) return '–';
  if (line.rounds === 1) return format(line.median);
  return `${format(line.median)} (${format(line.least)} … ${format(line.most)})`;
}

function ratioText(line: Line | undefined): string {
  if (line === undefined || line.ratio === null) return '';
  const ratio = `${line.ratio.toFixed(2)}×`;
  if (line.goal === null) return ratio;
  return `${ratio}, goal ${line.lowerIsBetter ? '≤' : '≥'} ${line.goal}× ${line.met ? 'met' : 'not met'}`;
}

function bestOf(group: readonly Line[]): string[] {
  const figures = [...new Set(group.filter(isCompared).map(({ figure }) => figure))];
  return figures.flatMap((figure) => {
    const best = bestPeer(group, figure);
    if (best === undefined || best.ratio === null) return [];
    return [`Against the best peer in ${figure} (${best.contender}): ${best.ratio.toFixed(2)}×.`];
  });
}

function settings(): string {
  const names = Object.keys(STATEMENTS) as ContenderName[];
  const rows = names.map((name) => {
    const numbers = Object.entries(SETTINGS[name] ?? {}).map(([key, value]) => `${key} ${value}`);
    return `| ${entryOf(name).title} | ${[STATEMENTS[name], ...numbers].join('; ')} |`;
  });
  return ['| | |', '| --- | --- |', ...rows].join('\n');
}
