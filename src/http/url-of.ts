/** The URL that reaches a server which listens on `host`: by https if it has a certificate. */
export function urlOf(certificate: object | null | undefined, host: string, port: number): string {
  return `${certificate ? 'https' : 'http'}://${hostIn(host)}:${port}`;
}

function hostIn(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
