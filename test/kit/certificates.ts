/**
 * Certificates for localhost and 127.0.0.1 that are valid until 2126, made with openssl. `first` is its own authority, `second` has
 * one. The keys protect nothing.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface TestPair {
  cert: string;
  key: string;
}

/** Writes a pair as `tls.pem` and `tls.key` into a folder, in place of what is there. */
export function writePair(folder: string, { cert, key }: TestPair): { args: string[]; cert: string; key: string } {
  const files = { cert: join(folder, 'tls.pem'), key: join(folder, 'tls.key') };
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key, { mode: 0o600 });
  return { ...files, args: ['--tls-cert', files.cert, '--tls-key', files.key] };
}

export const first: TestPair = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBlDCCATmgAwIBAgIUNHrbnaFjpgNH84KZsH0ED8yJhNowCgYIKoZIzj0EAwIw
EDEOMAwGA1UEAwwFZmlyc3QwIBcNMjYxMTE3MDYzMjE2WhgPMjEyNjEwMjQwNjMy
MTZaMBAxDjAMBgNVBAMMBWZpcnN0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
rM3Q4y7QxerALWSBX23MvjGklhBUK0WaJB0SAYf+2tQlLYRNwsoqhiYNt3+wU+4P
yJ0PPzLL4p26LGYn9qpngaNvMG0wHQYDVR0OBBYEFO6J7P2Uvu9OvR/+nG60rpsI
1La6MB8GA1UdIwQYMBaAFO6J7P2Uvu9OvR/+nG60rpsI1La6MA8GA1UdEwEB/wQF
MAMBAf8wGgYDVR0RBBMwEYIJbG9jYWxob3N0hwR/AAABMAoGCCqGSM49BAMCA0kA
MEYCIQCIupdUlTb6MTpzr3gaYL47Bfu/iBhqWPm+f7VKVcuVFgIhAIGGKT1eIING
mrqd0/IpfHMe77DjIx7u4kNqIo6rfoWz
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgCvBCosZ5KnSZ7pz8
Dox1Nnl00Q30hU3XTUPHYuUUAryhRANCAASszdDjLtDF6sAtZIFfbcy+MaSWEFQr
RZokHRIBh/7a1CUthE3CyiqGJg23f7BT7g/InQ8/MsvinbosZif2qmeB
-----END PRIVATE KEY-----
`,
};

/** The authority of `second`. */
export const authority = `-----BEGIN CERTIFICATE-----
MIIBmDCCAT+gAwIBAgIUOeR+lpDApTkHTeZvYrgKLfes748wCgYIKoZIzj0EAwIw
ITEfMB0GA1UEAwwWV29ya3JvbiB0ZXN0IGF1dGhvcml0eTAgFw0yNjExMTcwNjMy
MTZaGA8yMTI2MTAyNDA2MzIxNlowITEfMB0GA1UEAwwWV29ya3JvbiB0ZXN0IGF1
dGhvcml0eTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNld+YrDm+mCIGlzRSy6
VobELjxm81KSxeSHDXi1q0m3RWMz6dEzBziPtuqorZg4bkChI20FbDL4UKH0MHoZ
LNOjUzBRMB0GA1UdDgQWBBQv+CZPSERuacwrrPYha/byis1P4DAfBgNVHSMEGDAW
gBQv+CZPSERuacwrrPYha/byis1P4DAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49
BAMCA0cAMEQCIAhPRJLLzyuUQh67CKcfEyw+EXEx58T91CLT5pnnMZ0DAiBIGabW
MAreLW872uJRNMbMtHoKy2BA4hOfPIPtV8MEzg==
-----END CERTIFICATE-----
`;

export const second: TestPair = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBlTCCATqgAwIBAgIUFf/wAZNNSh0QnaQ0fD3zt2XtSxAwCgYIKoZIzj0EAwIw
ITEfMB0GA1UEAwwWV29ya3JvbiB0ZXN0IGF1dGhvcml0eTAgFw0yNjExMTcwNjMy
MTZaGA8yMTI2MTAyNDA2MzIxNlowETEPMA0GA1UEAwwGc2Vjb25kMFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAE0IRCXEN59BuYU/CqDtQhRkX8P5fn03lNbvPsCcsB
eYHa01TQtGL3Z21yZ9iIDOVMYEVJ959SwdcQeOVm77blMKNeMFwwGgYDVR0RBBMw
EYIJbG9jYWxob3N0hwR/AAABMB0GA1UdDgQWBBTKrBiX+X40f0MKB/98nPNpW80c
IjAfBgNVHSMEGDAWgBQv+CZPSERuacwrrPYha/byis1P4DAKBggqhkjOPQQDAgNJ
ADBGAiEAiv40DJZ3jZknBhNpwT7po4OHO3HqXuEalf3gEw9v7hsCIQCqtATthUES
x2MWEP6K3KXBPgAABOL1s4t47sSLc8RBWg==
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg0vmGzKqvQGEYWoWw
nFIwRtAWUo21veUKUI943PrN8ZyhRANCAATQhEJcQ3n0G5hT8KoO1CFGRfw/l+fT
eU1u8+wJywF5gdrTVNC0YvdnbXJn2IgM5UxgRUn3n1LB1xB45WbvtuUw
-----END PRIVATE KEY-----
`,
};
