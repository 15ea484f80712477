/** Store methods are functions of what they work with: each driver lists them once, and `open` binds the list. */

/** The functions without their first argument. */
type Bound<F> = {
  [K in keyof F]: F[K] extends (context: never, ...args: infer Args) => infer Answer
    ? (...args: Args) => Answer
    : never;
};

/** The same for functions that another thread runs: called with a signal at the end, they return a promise. */
type Promised<F> = {
  [K in keyof F]: F[K] extends (context: never, ...args: infer Args) => infer Answer
    ? (...args: [...Args, signal: AbortSignal]) => Promise<Awaited<Answer>>
    : never;
};

/** Binds each function to `context`. */
export function bindAll<Context, F extends Record<string, (context: Context, ...args: never[]) => unknown>>(
  functions: F,
  context: Context,
): Bound<F> {
  const bound = Object.entries(functions).map(([name, method]) => [name, method.bind(null, context)]);
  return Object.fromEntries(bound) as Bound<F>;
}

/** Makes each function a call of `ask` with its name and arguments. */
export function askAll<F extends object>(
  functions: F,
  ask: (name: keyof F & string, args: readonly unknown[], signal: AbortSignal) => Promise<unknown>,
): Promised<F> {
  const asked = (Object.keys(functions) as (keyof F & string)[]).map((name) => [
    name,
    (...args: unknown[]) => ask(name, args.slice(0, -1), args.at(-1) as AbortSignal),
  ]);
  return Object.fromEntries(asked) as Promised<F>;
}
