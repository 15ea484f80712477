/** Deadlines for calls. */

/** Returns the call's answer. Rejects after `ms` or when `signal` aborts, even if the call itself goes on. */
export function within<T>(ms: number, signal: AbortSignal, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const inner = new AbortController();
    const giveUp = (reason: Error) => {
      end();
      inner.abort(reason);
      reject(reason);
    };
    const onAbort = () => giveUp(signal.reason as Error);
    const timer = setTimeout(() => giveUp(new Error(`no answer within ${Math.round(ms)} ms`)), ms);
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort);
    call(inner.signal).then(resolve, reject).finally(end);
  });
}
