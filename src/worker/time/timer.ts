/** The limit of `setTimeout`, which fires at once for longer delays. */
const MAX_MS = 2 ** 31 - 1;

/** Calls `done` after `ms`, which may exceed the limit of `setTimeout`. Returns a function that cancels it. */
export function after(ms: number, done: () => void): () => void {
  let timer: NodeJS.Timeout;
  const arm = (left: number) => {
    timer = setTimeout(() => (left > MAX_MS ? arm(left - MAX_MS) : done()), Math.min(left, MAX_MS));
  };
  arm(ms);
  return () => clearTimeout(timer);
}
