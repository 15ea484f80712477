/** Schemas of any library that implements Standard Schema (zod, valibot, arktype …). */

import { pointerStep } from '../core/text.ts';

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

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type InputOf<S extends Schema> = NonNullable<S['~standard']['types']>['input'];
export type OutputOf<S extends Schema> = NonNullable<S['~standard']['types']>['output'];

/** More issues than this are counted only. */
const MAX_ISSUES = 20;

/** Where each issue is, as a JSON pointer, and what it says. */
export function issuePointers(issues: readonly Issue[]): { pointer: string; detail: string }[] {
  if (issues.length === 0) return [{ pointer: '', detail: 'not valid' }];
  return issues.map(({ path = [], message }) => {
    const steps = path.map((step) => `/${pointerStep(String(typeof step === 'object' ? step.key : step))}`);
    return { pointer: steps.join(''), detail: message };
  });
}

/** Returns a function that lists what is wrong with an input; nothing if it fits. */
export function issuesBy(schema: Schema) {
  return async (input: unknown) => {
    const { issues } = await schema['~standard'].validate(input);
    return issues === undefined ? [] : issuePointers(issues);
  };
}

/** A worker's schema refuses the input of a job. */
export class InvalidInput extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InvalidInput';
  }

  static of(job: string, issues: readonly Issue[]): InvalidInput {
    return new InvalidInput(`the input of ${job} is not valid: ${describeIssues(issues)}`);
  }
}

/** The issues in one line: `/to: not an address; /n: expected a number`. */
function describeIssues(issues: readonly Issue[]): string {
  const texts = issuePointers(issues).map(({ pointer, detail }) => (pointer === '' ? detail : `${pointer}: ${detail}`));
  const more = texts.length > MAX_ISSUES ? ` (and ${texts.length - MAX_ISSUES} more)` : '';
  return `${texts.slice(0, MAX_ISSUES).join('; ')}${more}`;
}
