/** One request through one route: decode, handle, send. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { decode, decodeFromJobs, invalid } from '../api/decode.ts';
import type { Log } from '../ops/log.ts';
import { readJson } from './read-json.ts';
import type { Call, Route, Shared } from './route.ts';
import { sendChunks } from './send-chunks.ts';

const NO_BYTES = Buffer.alloc(0);

export async function answerCall(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  shared: Shared & { closing: AbortSignal },
  log: Log,
): Promise<unknown> {
  const hangUp = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) hangUp.abort(new Error('The caller hung up'));
  });
  const signal = route.long ? AbortSignal.any([hangUp.signal, shared.closing]) : hangUp.signal;
  const bytes = Buffer.isBuffer(request.body) ? request.body : NO_BYTES;
  const call: Call = {
    ...shared,
    params: request.params as Record<string, string>,
    query: route.query === undefined ? undefined : decode(route.query, request.query),
    body: decodeBody(route, bytes, request.headers['content-type']),
    bytes,
    headers: request.headers,
    principal: request.principal,
    remoteAddress: request.ip,
    log: log.child({ request_id: request.id }),
    signal,
  };
  try {
    const answer = await route.handle(call);
    reply.code(answer.status).headers(answer.headers ?? {});
    if ('json' in answer) return reply.type('application/json; charset=utf-8').send(JSON.stringify(answer.json));
    reply.type(answer.type);
    if ('text' in answer) return reply.send(answer.text);
    reply.hijack();
    reply.raw.writeHead(answer.status, reply.getHeaders() as Record<string, string>);
    reply.raw.flushHeaders();
    await sendChunks(reply.raw, answer.chunks).catch((error: unknown) => {
      if (!signal.aborted) call.log.error({ error }, 'an answer broke off');
      reply.raw.destroy();
    });
    return reply;
  } catch (error) {
    if (shared.closing.aborted && signal.aborted && !hangUp.signal.aborted) throw shared.closing.reason;
    if (hangUp.signal.aborted) {
      // Nobody is there to be told.
      call.log.debug({ path: route.path }, 'the caller hung up');
      reply.hijack();
      return reply;
    }
    throw error;
  }
}

function decodeBody(route: Route, bytes: Buffer, contentType: string | undefined): unknown {
  if (route.body === undefined) return undefined;
  const value = readJson(bytes, contentType);
  if (value !== undefined) return (route.textFromJobs ? decodeFromJobs : decode)(route.body, value);
  if (route.bodyOptional) return undefined;
  throw invalid([{ pointer: '', detail: 'expected a JSON body' }]);
}
