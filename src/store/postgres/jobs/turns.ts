/** A cache of the queues whose fair keys take turns. A queue is never removed. */
export class FairQueues {
  readonly names = new Set<string>();

  /** Adds queues whose rows are committed. */
  learn(names: Iterable<string>): void {
    for (const name of names) this.names.add(name);
  }

  has(name: string): boolean {
    return this.names.has(name);
  }
}
