/** Answers one request: decodes it, calls the handler of its route, sends the reply. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { decode, decodeFromJobs, invalid } from '../api/decode.ts';
import type { Log } from '../ops/log.ts';
import { type Answer, type Call, type Chunks, type RouteHandler, Serialized, type Shared } from './handler.ts';
import { readJson } from './read-json.ts';
import { sendChunks } from './send-chunks.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const NO_BYTES = Buffer.alloc(0);

export async function answerCall(
  handler: RouteHandler,
  request: FastifyRequest,
  reply: FastifyReply,
  shared: Shared & { closing: AbortSignal },
  log: Log,
): Promise<unknown> {
  const hangUp = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) hangUp.abort(new Error('The caller hung up'));
  });
  const signal = handler.long ? AbortSignal.any([hangUp.signal, shared.closing]) : hangUp.signal;
  const call = callOf(handler, request, { shared, log: log.child({ request_id: request.id }), signal });
  try {
    return await sendAnswer(await handler.handle(call), reply, call);
  } catch (error) {
    if (shared.closing.aborted && signal.aborted && !hangUp.signal.aborted) throw shared.closing.reason;
    if (!hangUp.signal.aborted) throw error;
    call.log.debug({ path: handler.route.path }, 'the caller hung up');
    reply.hijack();
    return reply;
  }
}

function callOf(
  handler: RouteHandler,
  request: FastifyRequest,
  { shared, log, signal }: { shared: Shared; log: Log; signal: AbortSignal },
): Call {
  const bytes = Buffer.isBuffer(request.body) ? request.body : NO_BYTES;
  return {
    ...shared,
    route: handler.route,
    params: request.params as Record<string, string>,
    query: handler.query === undefined ? undefined : decode(handler.query, request.query),
    body: decodeBody(handler, bytes, request.headers['content-type']),
    bytes,
    headers: request.headers,
    principal: request.principal,
    remoteAddress: request.ip,
    log,
    signal,
  };
}

function decodeBody(handler: RouteHandler, bytes: Buffer, contentType: string | undefined): unknown {
  if (handler.body === undefined) return undefined;
  const value = readJson(bytes, contentType);
  if (value !== undefined) return (handler.textFromJobs ? decodeFromJobs : decode)(handler.body, value);
  if (handler.body instanceof z.ZodOptional) return undefined;
  throw invalid([{ pointer: '', detail: 'expected a JSON body' }]);
}

async function sendAnswer(answer: Answer, reply: FastifyReply, call: Call): Promise<unknown> {
  reply.code(answer.status).headers(answer.headers ?? {});
  if ('json' in answer) {
    reply.type(JSON_TYPE);
    if (!(answer.json instanceof Serialized)) return reply.send(JSON.stringify(answer.json));
    const { content } = answer.json;
    return typeof content === 'string' ? reply.send(content) : stream(content, reply, call);
  }
  reply.type(answer.type);
  return 'text' in answer ? reply.send(answer.text) : stream(answer.chunks, reply, call);
}

async function stream(chunks: Chunks, reply: FastifyReply, call: Call): Promise<FastifyReply> {
  reply.hijack();
  reply.raw.writeHead(reply.statusCode, reply.getHeaders() as Record<string, string>);
  reply.raw.flushHeaders();
  await sendChunks(reply.raw, chunks).catch((error: unknown) => {
    if (!call.signal.aborted) call.log.error({ error }, 'an answer broke off');
    reply.raw.destroy();
  });
  return reply;
}
