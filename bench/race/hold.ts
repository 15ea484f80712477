/** Runs one discipline in rounds with all contenders, so that changes of the machine affect all of them. */

import { median } from '../measure.ts';
import type { ContenderName } from './contender.ts';
import type { Discipline } from './discipline.ts';
import type { Grounds } from './grounds.ts';

export interface Result {
  discipline: Discipline;
  /** One value per round, by contender and figure. */
  values: Map<ContenderName, number[][]>;
}

export interface Held {
  rounds: number;
  /** The share of the discipline's number of jobs. */
  share: number;
  /** No round starts after this time of `performance.now()`. */
  until: number;
}

/** Slow contenders get fewer jobs, so that a round does not take too long. */
const FAR_BEHIND = 5;

export async function hold(discipline: Discipline, grounds: Grounds, { rounds, share, until }: Held): Promise<Result> {
  const result = begin(discipline, grounds);
  for (let round = 0; round < rounds && (round === 0 || performance.now() < until); round += 1) {
    await holdRound(result, grounds, share);
  }
  return result;
}

/** The state before the first round. */
export function begin(discipline: Discipline, grounds: Grounds): Result {
  const names = discipline.contenders.filter((name) => name !== 'bullmq' || grounds.hasRedis);
  return { discipline, values: new Map(names.map((name) => [name, discipline.figures.map(() => [])])) };
}

/** Runs every contender once. One that fails has no figure (NaN) in this round; the others go on. */
export async function holdRound(result: Result, grounds: Grounds, share: number): Promise<void> {
  const { discipline, values } = result;
  const jobs = Math.max(20, Math.round(discipline.jobs * share));
  const ours = discipline.contenders[0] as ContenderName;
  for (const [name, columns] of values) {
    const isBehind = !discipline.lowerIsBetter && isFarBehind(values, name, ours);
    const figures = await discipline
      .run(name, await grounds.urlFor(name), isBehind ? Math.ceil(jobs / 10) : jobs)
      .catch((error: unknown) => {
        console.error(`${discipline.title}: ${name} failed: ${String(error)}`);
        return columns.map(() => Number.NaN);
      });
    for (const [place, column] of columns.entries()) column.push(figures[place] ?? Number.NaN);
    console.error(`${discipline.title}: ${name} ${figures.map((value) => value.toPrecision(4)).join(' / ')}`);
  }
}

/** Slow contenders are unknown before the first round, except plain graphile-worker. */
function isFarBehind(values: Result['values'], name: ContenderName, ours: ContenderName): boolean {
  const [own, first] = [finite(values.get(name)?.[0]), finite(values.get(ours)?.[0])];
  if (own.length === 0 || first.length === 0) return name === 'graphile';
  return median(own) * FAR_BEHIND < median(first);
}

/** The median ratio of Workron to another contender over all rounds. */
export function ratioOf({ discipline, values }: Result, against: ContenderName, figure = 0): number | undefined {
  const ours = values.get(discipline.contenders[0] as ContenderName)?.[figure] ?? [];
  const theirs = values.get(against)?.[figure] ?? [];
  const ratios = finite(theirs.map((value, round) => (ours[round] as number) / value));
  return ratios.length === 0 ? undefined : median(ratios);
}

/** The values of rounds that have a figure. */
export function finite(values: readonly number[] = []): number[] {
  return values.filter(Number.isFinite);
}
