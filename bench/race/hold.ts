/** Holds one discipline: rounds in which all contenders take their turn, so that what the machine does to one it does to all. */

import { median } from '../measure.ts';
import type { ContenderName } from './contender.ts';
import type { Discipline } from './discipline.ts';
import type { Grounds } from './grounds.ts';

export interface Result {
  discipline: Discipline;
  /** By contender and figure, one value a round. */
  values: Map<ContenderName, number[][]>;
}

export interface Held {
  rounds: number;
  /** Of the jobs that the discipline has. */
  share: number;
  /** No new round after this, by `performance.now()`. */
  until: number;
}

/** A contender far behind would make everybody wait. */
const FAR_BEHIND = 5;

export async function hold(discipline: Discipline, grounds: Grounds, { rounds, share, until }: Held): Promise<Result> {
  const names = discipline.contenders.filter((name) => name !== 'bullmq' || grounds.hasRedis);
  const values = new Map<ContenderName, number[][]>(names.map((name) => [name, discipline.figures.map(() => [])]));
  const jobs = Math.max(20, Math.round(discipline.jobs * share));
  for (let round = 0; round < rounds && (round === 0 || performance.now() < until); round += 1) {
    for (const name of names) {
      const isBehind = !discipline.lowerIsBetter && isFarBehind(values, name, names[0] as ContenderName, round);
      const figures = await discipline.run(name, await grounds.urlFor(name), isBehind ? Math.ceil(jobs / 10) : jobs);
      for (const [figure, value] of figures.entries()) values.get(name)?.[figure]?.push(value);
      console.error(`${discipline.title}: ${name} ${figures.map((value) => value.toPrecision(4)).join(' / ')}`);
    }
  }
  return { discipline, values };
}

/** Before the first round nobody knows; plain graphile-worker is known to be. */
function isFarBehind(values: Result['values'], name: ContenderName, ours: ContenderName, round: number): boolean {
  if (round === 0) return name === 'graphile';
  const [own = [], first = []] = [values.get(name)?.[0], values.get(ours)?.[0]];
  return median(own) * FAR_BEHIND < median(first);
}

/** Ours against another, round by round: the median of the rounds' ratios. */
export function ratioOf({ discipline, values }: Result, against: ContenderName, figure = 0): number | undefined {
  const ours = values.get(discipline.contenders[0] as ContenderName)?.[figure];
  const theirs = values.get(against)?.[figure];
  if (ours === undefined || theirs === undefined || theirs.length === 0) return undefined;
  return median(theirs.map((value, round) => (ours[round] as number) / value));
}
