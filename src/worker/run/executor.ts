import type { Outcome } from '../../core/outcome.ts';
import type { Assignment } from './assignment.ts';

/** Runs one kind of job. */
export interface Executor {
  /**
   * Runs the attempt to its end, or until it is stopped. Failure is an answer, not a rejection. All output has been
   * written, or given up, when it answers.
   */
  run(assignment: Assignment): Outcome | Promise<Outcome>;
}
