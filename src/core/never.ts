/** For calls that nobody gives up on: a signal that never aborts. */
export const NEVER: AbortSignal = new AbortController().signal;
