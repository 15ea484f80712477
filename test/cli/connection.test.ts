/** The command line's requests, against servers that misbehave. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { routes } from '../../src/api/routes.ts';
import { Connection } from '../../src/cli/connection.ts';
import { CliError, EXIT } from '../../src/cli/errors/cli-error.ts';

describe('connection', () => {
  test('connection: a body is sent whole, with its length, whatever the method', async () => {
    await using server = await serverOf((request, response) => {
      void json(request).then((body) => {
        response.end(JSON.stringify({ length: request.headers['content-length'], body }));
      });
    });
    const body = { text: 'größer' };
    const answers = [
      await connect(server).json(routes.submitJobs, { body }),
      await connect(server).json(routes.deleteSchedule, { params: { name: 'a' }, body }),
    ];
    for (const answer of answers) assert.deepEqual(answer, { length: '19', body });
  });

  test('connection: a redirect is reported, not followed: the token is for the given address', async () => {
    let asked = 0;
    await using elsewhere = await serverOf((_request, response) => {
      asked += 1;
      response.end('{}');
    });
    await using server = await serverOf((_request, response) => {
      response.writeHead(301, { location: `${elsewhere.url}/jobs` }).end();
    });
    const message = `HTTP 301 Moved Permanently, which leads to ${elsewhere.url}/jobs`;
    await assert.rejects(connect(server).json(routes.listJobs), { name: 'CliError', message, exitCode: EXIT.failed });
    assert.equal(asked, 0);
  });

  test('connection: a refusal that is no problem document is reported by its status', async () => {
    await using server = await serverOf((_request, response) => response.writeHead(502).end('<html>'));
    await assert.rejects(connect(server).json(routes.listJobs), {
      message: 'HTTP 502 Bad Gateway',
      exitCode: EXIT.unreachable,
    });
  });

  test('connection: an answer that breaks off, or is none of ours, is a server that does not answer', async () => {
    await using broken = await serverOf((_request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{', () => response.destroy());
    });
    await using foreign = await serverOf((_request, response) => response.end('<html>'));
    for (const server of [broken, foreign]) {
      await assert.rejects(connect(server).json(routes.listJobs), (error: unknown) => {
        assert.ok(error instanceof CliError && error.exitCode === EXIT.unreachable);
        return error.message.startsWith(`cannot connect to Workron at ${server.url} (`);
      });
    }
  });

  test('connection: a caller who gives up gets the reason, before the answer and in the middle of it', async () => {
    await using silent = await serverOf(() => undefined);
    await using endless = await serverOf((_request, response) => void response.write('a line\n'));
    const early = new AbortController();
    const waiting = connect(silent).json(routes.readRoot, { signal: early.signal });
    early.abort();
    await assert.rejects(waiting, { name: 'AbortError' });
    const late = new AbortController();
    const { body } = await connect(endless).open(routes.readRoot, { signal: late.signal });
    await assert.rejects(
      async () => {
        for await (const _ of body) late.abort();
      },
      { name: 'AbortError' },
    );
  });
});

interface TestServer extends AsyncDisposable {
  url: string;
}

async function serverOf(listener: RequestListener): Promise<TestServer> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function connect({ url }: TestServer): Connection {
  return new Connection(url, { token: 'a-token' });
}
