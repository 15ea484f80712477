/** A hint for errors of connections whose address may have the wrong scheme. */

/** A server with TLS closes a plain connection without an answer: node:http and `fetch` say so in other words. */
const CLOSED = /^(socket hang up|other side closed)$/;

/** Adds the hint to such an error, and returns the same error. */
export function hintAtHttps(error: Error, address: string): Error {
  const reason = error.cause instanceof Error ? error.cause : error;
  if (address.startsWith('http:') && CLOSED.test(reason.message)) {
    reason.message += `; if it speaks https: ${new URL(address).origin.replace('http', 'https')}`;
  }
  return error;
}
