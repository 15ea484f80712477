/** What the engine's methods work with: a transaction of either database. */

import type { Job, NewJob } from '../../core/job.ts';
import type { Placement } from '../engine/graph/edges.ts';
import type { GraphUpdate } from '../engine/graph/graph-update.ts';
import type { Locks } from '../engine/graph/locks.ts';
import type { Changes } from '../hint.ts';
import type { Columns } from './columns.ts';
import type { Fragment } from './sql.ts';
import type { Table } from './tables.ts';

export interface Tx {
  /** Runs a statement and returns its rows. */
  all<T>(columns: Columns<T>, statement: Fragment): Promise<T[]>;
  /** Runs a statement and returns its first row. */
  get<T>(columns: Columns<T>, statement: Fragment): Promise<T | undefined>;
  /** Runs a statement and returns the number of rows that it wrote. */
  run(statement: Fragment): Promise<number>;
  /** Runs statements of which none sees what the others write. `counted`: the first has `returning 1`, and its rows are counted. */
  runTogether(statements: readonly Fragment[], counted?: 'counted'): Promise<{ now: number; count: number }>;
  /** Reads the rows that match, runs statements that use them as the table `held`, and returns them. None sees what the others write. */
  writeHeld<Row extends Answer, Answer>(given: HeldWrites<Row, Answer>): Promise<Answer[]>;
  /** The store's time. To be read after the locks that a decision needs, never before them. */
  instant(): Promise<number>;
  /** Keeps other writers of the table waiting until the transaction ends; `share`: unless they ask for the same. Readers go on. */
  lockTable(table: Table, mode?: 'share'): Promise<void>;
  /** Runs a statement that only locks rows. */
  lockRows(statement: Fragment): Promise<void>;
  /** Stores jobs without keys and parents, and returns them in order. */
  insertJobs(jobs: readonly NewJob[]): Promise<Job[]>;
  /** Inserts the next items of a group. Returns them with their status. */
  insertItems(groupId: number, items: NextItems): Promise<NewItem[]>;
  /** The ids of lanes, by their keys. On PostgreSQL, the transaction begins again if one is not known. */
  laneIds(keys: readonly string[]): number[];
  /** Attempts have ended: jobs that wait for their meters may start. These are the last locks of a transaction. */
  releaseMeters(ended: EndedAttempts): Promise<void>;
  /** Stores jobs as they were judged, without their edges. Returns their ids, in ascending order. */
  insertLinked(jobs: readonly LinkedJob[]): Promise<number[]>;
  /** The queues that are known to take turns. */
  readonly fairQueues: ReadonlySet<string>;
  /** True if PostgreSQL has a collation that folds the case of all letters. */
  readonly folds: boolean;
  /** The jobs that the transaction has locked. */
  readonly locks: Locks;
  /** Announced after the commit. */
  readonly effects: Changes;
  /** Effects on other jobs, written at the end of the transaction. */
  readonly graphUpdate: GraphUpdate;
  /** What a method leaves for its next call, such as how far it has looked. It may be lost. */
  readonly notes: Map<string, unknown>;
}

export interface HeldWrites<Row, Answer> {
  held: Columns<Row>;
  matching: Fragment;
  writes: readonly Fragment[];
  /** The columns of `held` that are returned. */
  answer: Columns<Answer>;
}

/** A new job with its place in the graph. */
export interface LinkedJob {
  job: NewJob;
  placement: Placement;
  /** Flags beside those that follow from the job and its placement. */
  flags: number;
  step: { workflowId: number; key: string; keepFrom: number | null } | null;
}

export interface NextItems {
  /** The index of the first one. */
  first: number;
  count: number;
  /** True if more can be inserted now. */
  more: boolean;
}

export interface NewItem {
  id: number;
  status: string;
  due: number;
}

export interface EndedAttempts {
  /** Jobs with limits. */
  limited: readonly number[];
  /** Jobs whose attempts were returned unstarted. */
  returned: readonly number[];
}

/** What a method works with that decides itself what is one transaction. */
export interface Stages {
  /** Each statement on its own. */
  tx: Tx;
  /** Runs `body` in a transaction. If it fails, nothing of it has happened. */
  write<T>(body: (tx: Tx) => Promise<T>): Promise<T>;
  /** True if a transaction failed because of what it was to write, so that it would fail again. */
  isOfRows(error: unknown): boolean;
  /** True if another transaction can follow one that failed. */
  goesOn(): boolean;
}

/** A row changed between its read and its lock: the transaction has to start again. */
export class StartAgain extends Error {}

/** `write`: changes rows. `urgent`: reads what must not wait behind a long list. `read`: may take its time. */
export type Mode = 'write' | 'urgent' | 'read';

/** Calls may run again after a deadlock, so they keep no state outside of the transaction. */
type Call<First> = (first: First, ...args: never[]) => Promise<unknown>;

export interface Method<F extends Call<never> = Call<never>> {
  readonly run: F;
  readonly mode: Mode;
  /** `one`: a single statement, which needs no transaction around it. `many`: a transaction. `staged`: as it decides itself. */
  readonly form: 'one' | 'many' | 'staged';
  /** What is called after it, see `inTurn`. */
  readonly next?: Method;
}

export type Methods = Readonly<Record<string, Method>>;

/** A method of one statement. */
export function one<F extends Call<Tx>>(mode: Mode, run: F): Method<F> {
  return { run, mode, form: 'one' };
}

/** A method of several statements. */
export function many<F extends Call<Tx>>(mode: Mode, run: F): Method<F> {
  return { run, mode, form: 'many' };
}

/** A method that decides itself what is one transaction. */
export function staged<F extends Call<Stages>>(mode: Mode, run: F): Method<F> {
  return { run, mode, form: 'staged' };
}

/** The answer of a method that leaves nothing to the one that follows it. */
export interface Done<Answer> {
  answer: Answer;
}

type Following<First> = First extends (first: never, ...args: infer Args) => Promise<infer Found>
  ? (first: never, ...args: [...Args, Exclude<Found, Done<unknown>>]) => Promise<unknown>
  : never;

type InTurn<First, Next extends Call<never>> = First extends (first: infer Tx, ...args: infer Args) => unknown
  ? (first: Tx, ...args: Args) => ReturnType<Next>
  : never;

/**
 * Two methods, each in a transaction and a mode of its own: what finds rows may take its time, and what writes them is called only if
 * there are some. The second gets the arguments, and then the answer of the first. It is not called if that is `Done`.
 */
export function inTurn<First extends Call<never>, Next extends Call<never> & Following<First>>(
  first: Method<First>,
  next: Method<Next>,
): Method<InTurn<First, Next>> {
  return { ...first, next } as never;
}

/** The methods, and those that follow them under names of their own. */
export function withNext(methods: Methods): Methods {
  const next = Object.entries(methods).flatMap(([name, { next }]) =>
    next === undefined ? [] : [[nextTo(name), next]],
  );
  return { ...methods, ...(Object.fromEntries(next) as Methods) };
}

function nextTo(name: string): string {
  return `${name}, then`;
}

/** The methods as a store has them: with a signal instead of the transaction. */
export type Callable<M extends Methods> = {
  [K in keyof M]: M[K]['run'] extends (first: never, ...args: infer Args) => Promise<infer Answer>
    ? (...args: [...Args, signal: AbortSignal]) => Promise<Answer>
    : never;
};

type Ask = (name: string, args: readonly unknown[], signal: AbortSignal) => Promise<unknown>;

/** Makes each method a call of `ask`. */
export function callable<M extends Methods>(methods: M, ask: Ask): Callable<M> {
  const calls = Object.entries(methods).map(([name, method]) => [
    name,
    async (...args: unknown[]) => {
      const signal = args.at(-1) as AbortSignal;
      const given = args.slice(0, -1);
      signal.throwIfAborted();
      const found = await ask(name, given, signal);
      if (method.next === undefined) return found;
      return isDone(found) ? found.answer : await ask(nextTo(name), [...given, found], signal);
    },
  ]);
  return Object.fromEntries(calls) as Callable<M>;
}

function isDone(found: unknown): found is Done<unknown> {
  return typeof found === 'object' && found !== null && 'answer' in found;
}
