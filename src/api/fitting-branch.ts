import type { z } from 'zod';

/** Of a union's branches, by what each found wrong: the one that takes this kind of value, and finds only details wrong. */
export function fittingBranch(
  branches: readonly (readonly z.core.$ZodIssue[])[],
): readonly z.core.$ZodIssue[] | undefined {
  const otherKind = ({ code, path }: z.core.$ZodIssue) =>
    path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
  return branches.filter((issues) => !issues.some(otherKind)).sort((a, b) => a.length - b.length)[0];
}
