/**
 * Addresses of servers on a socket of the file system: `unix:/run/workron/workron.sock`. In the address of a request, its path
 * follows a second colon.
 */

const ADDRESS = /^unix:(\/[^:?#]+)$/;
const REQUEST = /^unix:(\/[^:?#]+):(\/.*)$/;

/** The path of the socket in the address of a server; `undefined` if that is not on a socket. */
export function socketIn(url: string): string | undefined {
  return ADDRESS.exec(url)?.[1];
}

/** The address of a request to a server. */
export function requestAddress(url: string, path: string): string {
  return (url.startsWith('unix:') ? `${url}:` : url.replace(/\/+$/, '')) + path;
}

/** The address of a request as HTTP knows it, and the socket to send it to, if it is for one. */
export function requestTarget(address: string): { url: string; socketPath: string | undefined } {
  const [, socketPath, path] = REQUEST.exec(address) ?? [];
  return { url: socketPath === undefined ? address : `http://localhost${path}`, socketPath };
}
