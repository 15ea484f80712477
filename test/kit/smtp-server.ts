/** A small mail server: it speaks SMTP, needs STARTTLS and a password, and keeps what it gets. */

import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { TLSSocket } from 'node:tls';

export interface Mail {
  from: string;
  to: string;
  /** `user password`, or `null` without a login. */
  login: string | null;
  encrypted: boolean;
  headers: Record<string, string>;
  body: string;
}

export interface SmtpServer extends AsyncDisposable {
  port: number;
  mails: Mail[];
}

export interface SmtpOptions {
  /** With a certificate it takes no mail before STARTTLS and a login. */
  tls?: { cert: string; key: string };
  /** Answers with this instead of taking a mail, such as `451 try again later`. */
  refusal?: string;
}

export async function startSmtp(options: SmtpOptions = {}): Promise<SmtpServer> {
  const mails: Mail[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    converse(socket, options, mails);
    socket.write('220 test ESMTP\r\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    mails,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function converse(socket: Socket | TLSSocket, options: SmtpOptions, mails: Mail[]): void {
  const { tls, refusal } = options;
  const encrypted = socket instanceof TLSSocket;
  const answer = (line: string) => void socket.write(`${line}\r\n`);
  let [from, to, login]: [string, string, string | null] = ['', '', null];
  /** The next line is the login. */
  let asked = false;
  let data: string[] | null = null;
  const lines = createInterface({ input: socket });
  lines.on('line', (line) => {
    if (data !== null) {
      if (line !== '.') return void data.push(line.replace(/^\./, ''));
      const [head = '', ...body] = data.join('\n').split('\n\n');
      const headers = Object.fromEntries(head.split('\n').map((header) => header.split(/: (.*)/s) as [string, string]));
      mails.push({ from, to, login, encrypted, headers, body: body.join('\n\n') });
      data = null;
      return answer('250 taken');
    }
    if (asked) {
      asked = false;
      login = Buffer.from(line, 'base64').toString().split('\0').slice(1).join(' ');
      return answer('235 welcome');
    }
    const [verb = '', argument = ''] = line.split(/ (.*)/s);
    const mayMail = tls === undefined || (encrypted && login !== null);
    switch (verb.toUpperCase()) {
      case 'EHLO':
        return answer(
          tls === undefined ? '250 test' : encrypted ? '250-test\r\n250 AUTH PLAIN' : '250-test\r\n250 STARTTLS',
        );
      case 'STARTTLS':
        answer('220 go ahead');
        lines.close();
        return converse(
          new TLSSocket(socket, { isServer: true, ...tls }).on('error', () => undefined),
          options,
          mails,
        );
      case 'AUTH':
        asked = true;
        return answer('334 ');
      case 'MAIL':
        from = argument.replace(/^FROM:<(.*?)>.*/, '$1');
        return answer(refusal ?? (mayMail ? '250 ok' : '530 authentication required'));
      case 'RCPT':
        to = argument.replace(/^TO:<(.*?)>.*/, '$1');
        return answer('250 ok');
      case 'DATA':
        data = [];
        return answer('354 go on');
      case 'QUIT':
        answer('221 bye');
        return void socket.end();
      default:
        return answer('502 unknown');
    }
  });
}
