/** Answers one request: decodes it, calls the handler of its route, sends the reply. */

import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { decode, decodeFromJobs, invalid } from '../api/decode.ts';
import type { Log } from '../ops/log.ts';
import type { AnswerBudget, AnswerRoom } from './answer-budget.ts';
import { perform } from './audit.ts';
import { type Answer, type Call, type Chunks, type RouteHandler, Serialized, type Shared } from './handler.ts';
import { readJson } from './read-json.ts';
import { watchAccess } from './watch-access.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const NO_BYTES = Buffer.alloc(0);
const NO_CHUNKS: AsyncIterable<Uint8Array> = { async *[Symbol.asyncIterator]() {} };
/** A caller that reads nothing for this long is disconnected. */
const STALL_MS = 30_000;
/** A caller that has not read a whole answer this long after it was made is disconnected: until then it is in memory. */
const SEND_MS = 120_000;

export async function answerCall(
  handler: RouteHandler,
  request: FastifyRequest,
  reply: FastifyReply,
  shared: Shared & { closing: AbortSignal; answers: AnswerBudget },
  log: Log,
): Promise<unknown> {
  const hangUp = new AbortController();
  const access = handler.long ? watchAccess(request.isStillAccepted, log) : undefined;
  reply.raw.once('close', () => {
    access?.over();
    if (!reply.raw.writableFinished) hangUp.abort(new Error('The caller hung up'));
  });
  const signal = access === undefined ? hangUp.signal : AbortSignal.any([hangUp.signal, shared.closing, access.ended]);
  const call = callOf(handler, request, { shared, log: log.child({ request_id: request.id }), signal });
  try {
    const room = isRead(handler) ? await roomUntilSent(shared.answers, reply, signal) : undefined;
    return await sendAnswer(await perform(handler, call), reply, { call, room });
  } catch (error) {
    if (!hangUp.signal.aborted) throw signal.aborted ? signal.reason : error;
    call.log.debug({ path: handler.route.path }, 'the caller hung up');
    reply.hijack();
    return reply;
  }
}

/** Requests of workers and probes are not held up by readers; streams are sent no faster than they are read. */
function isRead({ route, long, quiet }: RouteHandler): boolean {
  return route.method === 'GET' && !long && !quiet;
}

async function roomUntilSent(answers: AnswerBudget, reply: FastifyReply, signal: AbortSignal): Promise<AnswerRoom> {
  const room = await answers.take(signal);
  let deadline: NodeJS.Timeout | undefined;
  const release = (): void => {
    clearTimeout(deadline);
    room.release();
  };
  reply.raw.once('finish', release);
  reply.raw.once('close', release);
  if (reply.raw.destroyed) release();
  return {
    resize: (bytes) => {
      room.resize(bytes);
      if (!reply.raw.destroyed) deadline = setTimeout(() => reply.raw.destroy(), SEND_MS).unref();
    },
    release,
  };
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
    query: queryOf(handler, request.query),
    body: bodyOf(handler, bytes, request.headers['content-type']),
    bytes,
    stream: request.body instanceof Readable ? request.body : NO_CHUNKS,
    headers: request.headers,
    isEncrypted: 'encrypted' in request.raw.socket || request.headers['x-forwarded-proto'] === 'https',
    principal: request.principal,
    remoteAddress: request.address,
    requestId: request.id,
    log,
    entry: null,
    signal,
  };
}

export function queryOf({ query }: RouteHandler, given: unknown): unknown {
  return query === undefined ? undefined : decode(query, given);
}

export function bodyOf(handler: RouteHandler, bytes: Buffer, contentType: string | undefined): unknown {
  if (handler.body === undefined) return undefined;
  const value = readJson(bytes, contentType);
  if (value !== undefined) return (handler.textFromJobs ? decodeFromJobs : decode)(handler.body, value);
  if (handler.body instanceof z.ZodOptional) return undefined;
  throw invalid([{ pointer: '', detail: 'expected a JSON body' }]);
}

async function sendAnswer(
  answer: Answer,
  reply: FastifyReply,
  { call, room }: { call: Call; room: AnswerRoom | undefined },
): Promise<unknown> {
  reply.code(answer.status).headers(answer.headers ?? {});
  const send = (text: string): FastifyReply => {
    room?.resize(text.length);
    return reply.send(text);
  };
  if ('json' in answer) {
    reply.type(JSON_TYPE);
    if (!(answer.json instanceof Serialized)) return send(JSON.stringify(answer.json));
    const { content } = answer.json;
    if (typeof content === 'string') return send(content);
    room?.release();
    return stream(content, reply, call);
  }
  reply.type(answer.type);
  if ('text' in answer) return send(answer.text);
  room?.release();
  return stream(answer.chunks, reply, call);
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

/** Sends a reply in chunks, no faster than the caller reads them. */
async function sendChunks(response: ServerResponse, chunks: Chunks): Promise<void> {
  for await (const chunk of chunks) {
    if (response.destroyed) return;
    if (chunk.length === 0 || response.write(chunk)) continue;
    if (!(await drained(response))) {
      response.destroy();
      return;
    }
  }
  response.end();
}

/** Resolves with `true` once the caller has read what was sent, with `false` if it did not in time. */
function drained(response: ServerResponse): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (result: boolean) => {
      clearTimeout(timer);
      response.off('drain', onDrain);
      response.off('close', onClose);
      resolve(result);
    };
    const onDrain = () => done(true);
    const onClose = () => done(false);
    const timer = setTimeout(() => done(false), STALL_MS);
    response.on('drain', onDrain);
    response.on('close', onClose);
    if (response.destroyed) done(false);
  });
}
