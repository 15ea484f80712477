/**
 * The cost of a claimed and settled job on PostgreSQL with few and with many other rows. Drains of both alternate, so that
 * changes of the machine affect both. Compared by pages; the time next to it is the server's own.
 */

import { median } from '../measure.ts';
import { measureDrain, type Submit, submitMany } from './drain.ts';
import type { Grounds } from './grounds.ts';
import { BLOCKED, ENDED, LATER, PENDING, type Pile, piled } from './piles.ts';
import { printHead, printRow, type Section, verdict, whole } from './section.ts';
import { SPREADS } from './spreads.ts';
import type { Work } from './work.ts';

const PAIRS = 3;
const MAX_RATIO = 1.15;

interface Side {
  size: number;
  schema: string;
  submit: Submit;
}

interface Pair {
  title: string;
  max: number;
  few: Side;
  many: Side;
}

export const backlog: Section = {
  name: 'backlog',
  title: 'Cost per job against what stands beside it',
  async run(grounds) {
    head();
    for (const pile of [PENDING, LATER, BLOCKED]) await compare(grounds, await pileUp(grounds, pile));
  },
};

export const spread: Section = {
  name: 'spread',
  title: 'Cost per job against fair keys and queues',
  async run(grounds) {
    head();
    for (const { submit, ...spread } of SPREADS) {
      const side = (size: number): Side => ({
        size,
        schema: `${spread.title.replace(' ', '_')}_${size}`,
        submit: (store) => submit(store, grounds.jobs, size),
      });
      await compare(grounds, { ...spread, few: side(spread.few), many: side(Math.min(spread.many, grounds.jobs)) });
    }
  },
};

export const history: Section = {
  name: 'history',
  title: 'Cost per job against history',
  async run(grounds) {
    head();
    await compare(grounds, await pileUp(grounds, ENDED));
  },
};

async function pileUp(grounds: Grounds, pile: Pile): Promise<Pair> {
  const side = async (count: number): Promise<Side> => {
    const size = grounds.sized(count);
    // These jobs come before the pile.
    const submit: Submit = (store) => submitMany(store, grounds.jobs, () => ({ priority: 9 }));
    return { size, schema: await piled(grounds, pile, size), submit };
  };
  return { title: pile.title, max: MAX_RATIO, few: await side(pile.few), many: await side(pile.many) };
}

function head(): void {
  printHead([
    'what grows',
    'from → to',
    'pages per claim',
    'pages per settle',
    'last to first',
    'goal',
    'rows per job',
    'µs per job',
    `time, last to first (${PAIRS} pairs)`,
  ]);
}

async function compare(grounds: Grounds, { title, max, few, many }: Pair): Promise<void> {
  const works: { few: Work; many: Work }[] = [];
  // The first pair fills the caches.
  for (let pair = 0; pair <= PAIRS; pair += 1) {
    works.push({ few: await work(grounds, few), many: await work(grounds, many) });
  }
  works.shift();
  const of = (side: 'few' | 'many', what: keyof Work) => median(works.map((pair) => pair[side][what]));
  const both = (what: keyof Work) => `${of('few', what).toFixed(1)} → ${of('many', what).toFixed(1)}`;
  const growth = (what: keyof Work) => of('many', what) / of('few', what);
  const pages = Math.max(growth('claimPages'), growth('settlePages'));
  const times = works.map((pair) => pair.many.us / pair.few.us);
  printRow([
    title,
    `${whole(few.size)} → ${whole(many.size)}`,
    both('claimPages'),
    both('settlePages'),
    pages.toFixed(2),
    verdict(pages, max),
    both('rows'),
    both('us'),
    `${median(times).toFixed(2)} (${Math.min(...times).toFixed(2)} … ${Math.max(...times).toFixed(2)})`,
  ]);
}

function work(grounds: Grounds, { schema, submit }: Side): Promise<Work> {
  return measureDrain(grounds, schema, submit);
}
