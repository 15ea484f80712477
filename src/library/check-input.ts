import { invalid } from '../api/decode.ts';
import type { JobType } from './job.ts';
import { toJson } from './json.ts';
import { describeIssues, type Schema } from './schema.ts';

/** Returns the input as it will be stored; `bad_request` if the job's schema refuses it. Synchronous without a schema. */
export function checkInput({ name, input: schema }: JobType, input: unknown): unknown {
  const json = toJson(input, `the input of ${name}`);
  return schema === null ? json : validate(name, schema, json);
}

async function validate(name: string, schema: Schema, json: unknown): Promise<unknown> {
  let result = schema['~standard'].validate(json);
  if (result instanceof Promise) result = await result;
  if (result.issues === undefined) return json;
  throw invalid([{ pointer: '/input', detail: `the input of ${name}: ${describeIssues(result.issues)}` }]);
}
