/** What `workflow run` and `--workflow` name: a file, or a stored definition. */

import { usageError } from '../errors/cli-error.ts';

export type WorkflowName = { file: string } | { definition: string; version: number | null };

/** `etl` and `etl@3` are stored definitions; `./etl`, `etl.yaml` and `-` are files. */
export function workflowName(text: string): WorkflowName {
  if (text === '-' || text.includes('/') || /\.(ya?ml|json)$/i.test(text)) return { file: text };
  const [definition = '', version, ...rest] = text.split('@');
  if (rest.length > 0 || definition === '' || (version !== undefined && !/^([1-9]\d{0,8}|latest)$/.test(version))) {
    throw usageError(`"${text}" is neither a file nor a stored workflow`, 'such as ./etl.yaml, etl or etl@3');
  }
  return { definition, version: version === undefined || version === 'latest' ? null : Number(version) };
}
