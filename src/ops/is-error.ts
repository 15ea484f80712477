import { types } from 'node:util';

/** True for errors of any realm. Reads no property, so it is safe for every value. Node 22 has no `Error.isError`. */
export function isError(value: unknown): value is Error {
  if (types.isNativeError(value)) return true;
  return !types.isProxy(value) && value instanceof DOMException;
}
