/** The input of a command: what it reads as its standard input. A text, or bytes in base64 where they are no text. */

export type CommandInput = string | { base64: string };

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export function isCommandInput(input: unknown): input is CommandInput {
  if (typeof input === 'string') return true;
  if (typeof input !== 'object' || input === null) return false;
  const { base64, ...rest } = input as { base64?: unknown };
  return typeof base64 === 'string' && BASE64.test(base64) && Object.keys(rest).length === 0;
}
