/** Every wait has a deadline. */

/** The call's answer; rejects when `ms` have passed or `signal` aborts, even where the call itself would go on. */
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
