/** Looks at the tables of an installation while faults go on, for what waits for nobody. */

import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { leftBehind, stranded, type Tables } from '../kit/stranded.ts';
import { askPostgres, askSqlite } from '../kit/with-tables.ts';
import type { Installation } from './installation.ts';

const EVERY_MS = 2_000;
/** What is found and is still there after this time is stranded. */
const GRACE_MS = 6_000;

export class TableWatch {
  readonly #installation: Installation;
  /** Since when each finding is there. */
  readonly #since = new Map<string, number>();
  readonly #healed = new Map<number, number>();
  /** Everything that was there for longer than the grace, each once. */
  readonly found = new Set<string>();
  looks = 0;

  constructor(installation: Installation) {
    this.#installation = installation;
  }

  /** The limits that were opened late, as far as the schedulers lived to be asked. */
  get healed(): number {
    return [...this.#healed.values()].reduce((sum, count) => sum + count, 0);
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#look(stranded).catch(() => undefined);
      await this.#countHealed();
      await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Resolves with what is in the tables when all work is over and the duties had their rounds. */
  async atEnd(): Promise<string[]> {
    let last: string[] = [];
    for (let tries = 0; tries < 30; tries += 1) {
      last = await this.#ask(async (tables) => [...(await stranded(tables)), ...(await leftBehind(tables))]);
      if (last.length === 0) break;
      await sleep(1_000);
    }
    await this.#countHealed();
    return last;
  }

  async #look(rule: (tables: Tables) => Promise<string[]>): Promise<void> {
    const found = await this.#ask(rule);
    const now = performance.now();
    this.looks += 1;
    for (const gone of [...this.#since.keys()].filter((each) => !found.includes(each))) this.#since.delete(gone);
    for (const each of found) {
      const since = this.#since.get(each) ?? now;
      this.#since.set(each, since);
      if (now - since >= GRACE_MS) this.found.add(each);
    }
  }

  async #ask<T>(body: (tables: Tables) => Promise<T>): Promise<T> {
    const { postgres, file } = this.#installation;
    if (postgres !== undefined) {
      const query = <Row>(text: string) => this.#installation.query<Row>(text);
      return await body({ driver: 'postgres', ask: askPostgres({ schema: 'workron', query }) });
    }
    using database = new DatabaseSync(file, { readOnly: true, timeout: 2_000 });
    return await body({ driver: 'sqlite', ask: askSqlite(database) });
  }

  async #countHealed(): Promise<void> {
    for (const port of this.#installation.ports) {
      const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(2_000) }).catch(
        () => undefined,
      );
      const [, count] = /^workron_parkings_healed_total (\d+)$/m.exec((await answer?.text()) ?? '') ?? [];
      this.#healed.set(port, Math.max(Number(count ?? 0), this.#healed.get(port) ?? 0));
    }
  }
}
