/**
 * Loads a screen on demand. If its file cannot be fetched, the server restarts, or a newer version has replaced the
 * files of this page. Then it waits for the server and loads the whole page again, which fits the present version.
 */

import { type ComponentType, lazy } from 'react';
import { PAGE } from '../data/place.ts';

const RELOADED = 'workron.reloaded';
/** A second failure so soon after a reload is not about the version. */
const RELOAD_MS = 10_000;
const RETRY_MS = 700;

export function lazyScreen<P extends object>(load: () => Promise<ComponentType<P>>) {
  return lazy(async () => {
    try {
      return { default: await load() };
    } catch (error) {
      if (Date.now() - lastReload() < RELOAD_MS) throw error;
      document.documentElement.dataset['server'] = 'away';
      await untilServed();
      delete document.documentElement.dataset['server'];
      sessionStorage.setItem(RELOADED, String(Date.now()));
      location.reload();
      // The page goes away; until then the fallback stays.
      return await new Promise<never>(() => undefined);
    }
  });
}

function lastReload(): number {
  try {
    return Number(sessionStorage.getItem(RELOADED));
  } catch {
    return Date.now();
  }
}

async function untilServed(): Promise<void> {
  for (;;) {
    try {
      if ((await fetch(`${PAGE}/`, { cache: 'no-store' })).ok) return;
    } catch {
      // It does not answer yet.
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}
