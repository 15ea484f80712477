/** The certificate and the private key of a server, read again when their files change. */

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, ServerOptions } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { Log } from '../ops/log.ts';
import { https } from '../ops/node-http.ts';
import { SettingsError } from '../ops/settings/error.ts';
import { readPrivateFile } from '../ops/settings/private-file.ts';
import { systemErrorText } from '../ops/system-error.ts';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

interface CertificateFiles {
  cert: string;
  key: string;
}

interface Pair {
  cert: string;
  key: string;
  leaf: X509Certificate;
}

const CHECK_MS = 1_000;

export class ServerCertificate implements Disposable {
  readonly #files: CertificateFiles;
  readonly #log: Log;
  readonly #servers = new Set<Server>();
  readonly #timer: NodeJS.Timeout;
  #pair: Pair;
  /** The state of the files when they were last read. */
  #read: string;
  /** Their state at the last check. */
  #seen: string;

  /** Throws `SettingsError` if the files cannot be used. */
  constructor(files: CertificateFiles, log: Log) {
    this.#files = files;
    this.#log = log;
    this.#read = this.#seen = stateOf(files);
    this.#pair = readPair(files);
    this.#timer = setInterval(() => this.#check(), CHECK_MS).unref();
  }

  /** Whom the certificate is for, and until when. */
  get summary(): string {
    const { subject, subjectAltName, validToDate } = this.#pair.leaf;
    const names = subjectAltName?.replaceAll(/DNS:|IP Address:/g, '') ?? subject.replaceAll('\n', ', ');
    return `${names}, valid until ${validToDate.toISOString().slice(0, 10)}`;
  }

  factory(options: ServerOptions): (handle: Handle) => Server {
    return (handle) => this.createServer(options, handle);
  }

  /** A server that always has the current certificate. Connections that are open keep theirs. */
  createServer(options: ServerOptions, handle: Handle): Server {
    const { cert, key } = this.#pair;
    const server = https().createServer({ ...options, cert, key }, handle);
    this.#servers.add(server);
    server.on('tlsClientError', (error) => this.#log.debug({ error }, 'a TLS connection was not made'));
    server.on('close', () => this.#servers.delete(server));
    return server;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  /** The files may be half written, so a change is read once it is one check old. */
  #check(): void {
    const state = stateOf(this.#files);
    const isSettled = state === this.#seen;
    this.#seen = state;
    if (!isSettled || state === this.#read) return;
    this.#read = state;
    try {
      const pair = readPair(this.#files);
      for (const server of this.#servers) server.setSecureContext({ cert: pair.cert, key: pair.key });
      this.#pair = pair;
      this.#log.info({ certificate: this.summary }, 'the TLS certificate was read again');
    } catch (error) {
      this.#log.error({ error }, 'the new TLS certificate cannot be used; the previous one stays');
    }
  }
}

/** Changes with the files, also if they are links that now lead elsewhere. */
function stateOf({ cert, key }: CertificateFiles): string {
  return [cert, key]
    .map((file) => {
      const stat = statSync(file, { throwIfNoEntry: false });
      return stat === undefined ? 'none' : `${stat.ino} ${stat.size} ${stat.ctimeMs}`;
    })
    .join(', ');
}

function readPair({ cert: certFile, key: keyFile }: CertificateFiles): Pair {
  const cert = readCertificates(certFile);
  const key = readPrivateFile('tls-key', keyFile);
  const leaf = certificateFrom(cert, certFile);
  if (!leaf.checkPrivateKey(keyFrom(key, keyFile))) {
    throw new SettingsError(`tls-key: ${keyFile} is not the key of the first certificate in ${certFile}`);
  }
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw new SettingsError(`tls-cert: ${certFile} cannot be used: ${(error as Error).message}`);
  }
  return { cert, key, leaf };
}

function readCertificates(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new SettingsError(`tls-cert: cannot read ${file}: ${systemErrorText(error)}`);
  }
}

function certificateFrom(text: string, file: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch {
    throw new SettingsError(`tls-cert: expected a certificate in PEM format in ${file}`);
  }
}

function keyFrom(text: string, file: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch {
    throw new SettingsError(`tls-key: expected a private key in PEM format without a passphrase in ${file}`);
  }
}
