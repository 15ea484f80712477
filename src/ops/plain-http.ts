const LOOPBACK = /^(127(\.\d{1,3}){3}|localhost|\[::1\])$/;

/** Why a token is not safe on its way to this address; `null` if it is, or there is none. */
export function whyExposed(url: string, token: string | null): string | null {
  const { protocol, hostname } = new URL(url);
  if (token === null || protocol !== 'http:' || LOOPBACK.test(hostname)) return null;
  return `the token goes to ${hostname} unencrypted; use https, by tls-cert and tls-key or by a proxy in front`;
}
