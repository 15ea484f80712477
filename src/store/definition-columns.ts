/** The row of a definition. Both databases store the same. */

import type { Definition } from '../core/dag/definition.ts';

export interface DefinitionColumns {
  name: string;
  version: number;
  source: string;
  body: string;
  created_at: number;
}

export function decodeDefinition({ created_at, ...row }: DefinitionColumns): Definition {
  return { ...row, createdAt: created_at };
}
