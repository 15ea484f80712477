/** Schemas of any library that implements Standard Schema (zod, valibot, arktype …). */

export interface Schema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Checked<Output> | Promise<Checked<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type Checked<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

export interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type InputOf<S extends Schema> = NonNullable<S['~standard']['types']>['input'];
export type OutputOf<S extends Schema> = NonNullable<S['~standard']['types']>['output'];

/** The first issue and the number of others: `/to: not an address (and 2 more)`. */
export function describeIssues(issues: readonly Issue[]): string {
  const [first] = issues;
  if (first === undefined) return 'not valid';
  const steps = (first.path ?? []).map((step) => `/${String(typeof step === 'object' ? step.key : step)}`);
  const place = steps.length === 0 ? '' : `${steps.join('')}: `;
  return `${place}${first.message}${issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''}`;
}
