/** Errors about the certificate of a server. */

/** Codes of OpenSSL for a chain that leads to no authority that is trusted. */
const UNTRUSTED: readonly string[] = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'INVALID_CA',
];

/** A server's certificate was refused. Its message says why, and what to do. */
export class CertificateError extends Error {}

/** Returns a `CertificateError` if `error`, or its cause, is about a certificate; else the same error. */
export function explainCertificate(error: unknown): unknown {
  // fetch hides the reason in the cause of its error.
  const why = problemOf(error) ?? (error instanceof Error ? problemOf(error.cause) : undefined);
  return why === undefined ? error : new CertificateError(why);
}

function problemOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string') return undefined;
  // Node adds advice about its own flags.
  const [why] = error.message.split('; ', 1);
  if (UNTRUSTED.includes(code)) {
    return `certificate is not trusted: ${why}; set --ca (in the library: ca) to its authority`;
  }
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID' || code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `certificate is not valid: ${why}`;
  }
  return undefined;
}
