/** What a store tells those who subscribed to it. */

/** Hints save waiting; polling is what correctness rests on. */
export type Hint =
  /** Jobs may have become claimable. */
  | { topic: 'work' }
  /** These jobs changed (`ids` may be cut short). */
  | { topic: 'jobs'; ids: readonly number[] }
  /** Running jobs of these workers were asked to stop, or a worker to drain. */
  | { topic: 'workers'; ids: readonly number[] }
  /** There is something to cascade or to expand. */
  | { topic: 'graph' }
  /** A schedule was made or changed: it may be due earlier than was known. */
  | { topic: 'schedules' }
  /** A scheduled job may be due earlier than was known. */
  | { topic: 'due'; at: number }
  /** This process leads nothing any more: its session with the store has ended. */
  | { topic: 'leadership' };
