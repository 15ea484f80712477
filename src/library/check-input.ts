import { invalid } from '../api/decode.ts';
import type { JobType } from './job.ts';
import { toJson } from './json.ts';
import { type Checked, issuePointers } from './schema.ts';

/**
 * Returns the input as it will be stored; `bad_request` if the job's schema refuses it. A promise only if the schema's
 * check is one: a transaction of SQLite may end in the same turn.
 */
export function checkInput({ name, input: schema }: JobType, input: unknown): unknown {
  const json = toJson(input, `the input of ${name}`);
  if (schema === null) return json;
  const result = schema['~standard'].validate(json);
  if (result instanceof Promise) return result.then((checked) => accept(name, checked, json));
  return accept(name, result, json);
}

function accept(name: string, checked: Checked<unknown>, json: unknown): unknown {
  if (checked.issues === undefined) return json;
  throw invalid(
    issuePointers(checked.issues).map(({ pointer, detail }) => ({
      pointer: `/input${pointer}`,
      detail: `the input of ${name}: ${pointer === '' ? '' : `${pointer}: `}${detail}`,
    })),
  );
}
