/** JSON and YAML for people and programs: the same data, with every character that a terminal would obey written as an escape. */

import module from 'node:module';
import type * as Yaml from 'yaml';

/** Those that JSON does not escape by itself: DEL, C1 controls, and characters that turn the direction of text. */
const OBEYED = /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

export function jsonText(value: unknown, indent?: number): string {
  return escaped(JSON.stringify(value, null, indent) ?? '');
}

export function yamlText(value: unknown): string {
  // Loaded on demand: few calls print YAML.
  const { Document, visit } = module.createRequire(import.meta.url)('yaml') as typeof Yaml;
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    // Only texts in double quotes may have escapes.
    Scalar: (_, node) => {
      if (typeof node.value === 'string' && node.value !== escaped(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  return escaped(document.toString({ lineWidth: 0 }));
}

function escaped(text: string): string {
  return text.replace(OBEYED, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
