import type { Database } from '../base/database.ts';

/** The queues whose jobs take turns, cached: a queue is never removed. */
export class FairQueues {
  readonly #database: Database;
  #names: Set<string> | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  get names(): ReadonlySet<string> {
    this.#names ??= new Set(this.#database.tuples<[string]>('select name from fair_queue').map(([name]) => name));
    return this.#names;
  }

  add(name: string): void {
    if (this.names.has(name)) return;
    this.#database.run('insert or ignore into fair_queue (name) values (?)', name);
    this.#names?.add(name);
  }

  /** Adds queues that the transaction has written. */
  learn(names: Iterable<string>): void {
    for (const name of names) this.#names?.add(name);
  }

  /** Queues written by a transaction that was rolled back do not exist. */
  forget(): void {
    this.#names = undefined;
  }
}
