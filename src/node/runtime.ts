/** The runtimes that Workron works on. Keep `engines` in package.json equal. */

/** The first version of each line of Node whose SQLite binds numbered parameters. Later lines have it from their start. */
const OLDEST: readonly (readonly [major: number, minor: number])[] = [
  [22, 20],
  [24, 7],
];

/** Says why this runtime is too old. On one that is, everything would seem to start, and then fail in the middle of something. */
export function runtimeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const newest = OLDEST.at(-1)?.[0] ?? 0;
  if (major > newest || OLDEST.some((oldest) => major === oldest[0] && minor >= oldest[1])) return undefined;
  return `Workron needs Node 22.20, 24.7 or newer; this is Node ${version}`;
}
