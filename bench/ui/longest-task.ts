import type { Browser, Page } from 'playwright-core';

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** The duration in microseconds. */
  dur?: number;
  /** The processor time in microseconds. */
  tdur?: number;
  args: { name?: string };
}

export interface LongestTask {
  wallMs: number;
  /** The processor time of the thread itself, which does not depend on the load of the machine. */
  processorMs: number;
}

/** The longest task of the page's main thread while `body` runs, by Chromium's trace. */
export async function longestTask(browser: Browser, page: Page, body: () => Promise<void>): Promise<LongestTask> {
  await browser.startTracing(page, { categories: ['toplevel'] });
  await body();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const thread = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`;
  const mains = new Set(
    traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain').map(thread),
  );
  const tasks = traceEvents.filter((event) => event.name.endsWith('RunTask') && mains.has(thread(event)));
  const longest = (of: (event: TraceEvent) => number): number => Math.max(0, ...tasks.map(of)) / 1_000;
  return { wallMs: longest(({ dur = 0 }) => dur), processorMs: longest(({ tdur = 0 }) => tdur) };
}
