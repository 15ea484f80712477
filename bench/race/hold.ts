/** Holds one discipline: rounds in which all contenders take their turn, so that what the machine does to one it does to all. */

import { median } from '../measure.ts';
import { type ContenderName, entryOf } from './contender.ts';
import { COSTS, type Discipline, figuresOf } from './discipline.ts';
import type { Grounds } from './grounds.ts';
import { SMALL_BYTES } from './payload.ts';

export interface Result {
  discipline: Discipline;
  /** By contender and figure, one value a round. */
  values: Map<ContenderName, number[][]>;
}

export interface Scale {
  /** Of the jobs that the discipline has. */
  share: number;
  /** No more jobs than this. */
  maxJobs: number;
  /** Of a job's input, where the discipline does not fix it. */
  bytes?: number;
}

/** A contender that is slower by this factor gets a tenth of the jobs: otherwise everybody would wait for it. */
const FAR_BEHIND = 5;

/** Before the first round. */
export function begin(discipline: Discipline, grounds: Grounds): Result {
  const names = discipline.contenders.filter((name) => name !== 'bullmq' || grounds.hasRedis);
  return { discipline, values: new Map(names.map((name) => [name, figuresOf(discipline).map(() => [])])) };
}

/** Every contender once. One that fails has no figure (NaN) in this round; the others go on. */
export async function holdRound(result: Result, grounds: Grounds, scale: Scale): Promise<void> {
  const { discipline, values } = result;
  const jobs = Math.min(scale.maxJobs, Math.max(20, Math.round(discipline.jobs * scale.share)));
  const bytes = discipline.bytes ?? scale.bytes ?? SMALL_BYTES;
  // The order turns from round to round, so that nobody always follows the same neighbour.
  for (const name of turned([...values.keys()], values.values().next().value?.[0]?.length ?? 0)) {
    const columns = values.get(name) as number[][];
    const round = await runOne(result, name, grounds, {
      jobs: isSlow(result, name) ? Math.ceil(jobs / 10) : jobs,
      bytes,
    });
    for (const [place, column] of columns.entries()) column.push(round[place] ?? Number.NaN);
    console.error(`${discipline.title}: ${name} ${round.map((value) => value.toPrecision(4)).join(' / ')}`);
  }
}

async function runOne(
  { discipline }: Result,
  name: ContenderName,
  grounds: Grounds,
  work: { jobs: number; bytes: number },
): Promise<number[]> {
  try {
    await using ground = await grounds.open(name);
    const { figures, usage } = await discipline.run({ name, ground }, work);
    return [...figures, ...COSTS.map(({ of }) => of(usage))];
  } catch (error) {
    console.error(`${discipline.title}: ${name} failed: ${String(error)}`);
    return figuresOf(discipline).map(() => Number.NaN);
  }
}

/** The same in another order: it begins `by` places later. */
export function turned<T>(items: readonly T[], by: number): T[] {
  const from = items.length === 0 ? 0 : by % items.length;
  return [...items.slice(from), ...items.slice(0, from)];
}

/** Whether it gets fewer jobs. In the first round only what is known beforehand counts. */
function isSlow({ discipline, values }: Result, name: ContenderName): boolean {
  if (discipline.figures.some(({ lowerIsBetter }) => lowerIsBetter)) return false;
  const ours = discipline.contenders[0] as ContenderName;
  const [own, first] = [finite(values.get(name)?.[0]), finite(values.get(ours)?.[0])];
  if (own.length === 0 || first.length === 0) return entryOf(name).slow ?? false;
  return median(own) * FAR_BEHIND < median(first);
}

/** Ours divided by another's, round by round: the median of the rounds' ratios. */
export function ratioOf({ discipline, values }: Result, against: ContenderName, figure = 0): number | undefined {
  const ours = values.get(discipline.contenders[0] as ContenderName)?.[figure] ?? [];
  const theirs = values.get(against)?.[figure] ?? [];
  return medianRatio(ours, theirs);
}

/** The median of the rounds' ratios, of the rounds in which both have a figure. */
export function medianRatio(ours: readonly number[], theirs: readonly number[]): number | undefined {
  const ratios = finite(theirs.map((value, round) => (ours[round] ?? Number.NaN) / value));
  return ratios.length === 0 ? undefined : median(ratios);
}

/** The rounds in which there was a figure. */
export function finite(values: readonly number[] = []): number[] {
  return values.filter(Number.isFinite);
}
