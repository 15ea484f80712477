/**
 * Writes a race into docs/performance.md, between its markers: the settled rows, and apart the one with cold statistics. Draws the
 * chart beside it. `npm run bench:table [-- FROM.json [TO.md]]` takes the last race.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { format } from '../measure.ts';
import { chart } from './chart.ts';
import { PROCESSOR } from './discipline.ts';
import { FOLDER } from './peers/installed.ts';
import { bestPeer, type Line } from './report.ts';

export interface Race {
  at: string;
  machine: { node: string; system: string; cpu?: string; cores: number };
  peers: Readonly<Record<string, string>>;
  lines: Line[];
}

const COLD = /cold statistics/;
const CHART = 'images/race.svg';

/** Replaces what is between the markers of both tables. */
export function withTables(text: string, race: Race): string {
  const cold = race.lines.filter(({ discipline }) => COLD.test(discipline));
  const settled = race.lines.filter(({ discipline }) => !COLD.test(discipline));
  return between(
    between(text, 'race', `${originOf(race)}\n\n![Workron beside its peers](${CHART})\n\n${tableOf(settled)}`),
    'cold',
    tableOf(cold),
  );
}

function between(text: string, name: string, content: string): string {
  const [start, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`];
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`expected the markers ${start.trim()} and ${end} in this order`);
  return `${text.slice(0, from + start.length)}${content}\n${text.slice(to)}`;
}

function originOf({ at, machine: { node, cores }, peers, lines }: Race): string {
  const rounds = Math.max(...lines.map((line) => line.rounds));
  const versions = Object.entries(peers).map(([name, version]) => `${name} ${version}`);
  return `${at.slice(0, 10)}, ${cores} cores, Node ${node.slice(1)}, ${rounds} interleaved rounds; ${versions.join(', ')}. Medians.`;
}

/** One row for each figure of a discipline: Workron against the best peer, and the processor time of both. */
function tableOf(lines: readonly Line[]): string {
  const rows = [...Map.groupBy(lines, ({ discipline }) => discipline)].flatMap(([title, group]) => {
    const figures = [...new Set(group.filter(({ cost }) => !cost).map(({ figure }) => figure))];
    return figures.map((figure) => rowOf(group, title, figure));
  });
  const head = ['', 'Workron', 'best peer', 'ratio', 'processor time per job, theirs ÷ ours'];
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function rowOf(group: readonly Line[], title: string, figure: string): string[] {
  const ours = group.find((line) => line.ours && line.figure === figure);
  const best = bestPeer(group, figure);
  const isOnly = new Set(group.filter(({ cost }) => !cost).map((line) => line.figure)).size === 1;
  const shown = (line: Line | undefined) =>
    line === undefined || line.rounds === 0 ? '–' : `${format(line.median)} ${line.unit}`;
  return [
    isOnly ? title : `${title}, ${figure}`,
    shown(ours),
    best === undefined ? '–' : `${best.contender} ${shown(best)}`,
    best?.ratio == null ? '–' : `${best.ratio.toFixed(2)}×${goalOf(best)}`,
    processorOf(group, best),
  ];
}

function goalOf({ goal, lowerIsBetter, met }: Line): string {
  return goal === null ? '' : ` (goal ${lowerIsBetter ? '≤' : '≥'} ${goal}, ${met ? 'met' : '**not met**'})`;
}

function processorOf(group: readonly Line[], best: Line | undefined): string {
  const ratio = group.find((line) => line.figure === PROCESSOR && line.contender === best?.contender)?.ratio;
  return ratio == null ? '–' : `${(1 / ratio).toFixed(2)}×`;
}

if (import.meta.main) {
  const [from = join(FOLDER, 'out', 'race.json'), to = join(FOLDER, '..', '..', 'docs', 'performance.md')] =
    process.argv.slice(2);
  const race = JSON.parse(readFileSync(from, 'utf8')) as Race;
  writeFileSync(to, withTables(readFileSync(to, 'utf8'), race));
  writeFileSync(join(dirname(to), CHART), chart(race.lines));
  console.log(`written: ${to}`);
}
