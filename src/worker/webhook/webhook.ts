/** The handler that delivers notifications to webhooks. */

import { lookup } from 'node:dns';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { type BlockList, isIP, type LookupFunction } from 'node:net';
import { Fatal, RetryAfter } from '../../core/handler-errors.ts';
import { http, https } from '../../ops/node-http.ts';
import type { HandlerContext } from '../run/handler-context.ts';
import type { Handler } from '../run/handler-executor.ts';
import { isRefused } from './private-address.ts';

interface WebhookOptions {
  /** Private addresses that may be reached nevertheless. */
  allowed: BlockList;
  version: string;
}

interface Message {
  url: string;
  body: string;
  delivery: string | null;
  timestamp: string | null;
  signature: string | null;
}

/** A 2xx answer counts as delivered. Redirects are not followed, and only the status of the answer is kept. */
export function webhookHandler(options: WebhookOptions): Handler {
  return async (input, context) => {
    const message = messageOf(input);
    const status = await post(message, context, options);
    context.log(`${new URL(message.url).host} answered ${status}`);
  };
}

function messageOf(input: unknown): Message {
  const { url, body, delivery, timestamp, signature } = (input ?? {}) as Partial<Message>;
  if (typeof url !== 'string' || typeof body !== 'string' || !/^https?:/.test(url) || !URL.canParse(url)) {
    throw new Fatal('expected an input such as {"url": "https://example.com/hook", "body": "{}", "signature": null}');
  }
  const textOf = (value: unknown) => (typeof value === 'string' && /^[\x21-\x7e]{1,256}$/.test(value) ? value : null);
  return { url, body, delivery: textOf(delivery), timestamp: textOf(timestamp), signature: textOf(signature) };
}

function post(message: Message, context: HandlerContext, options: WebhookOptions): Promise<number> {
  const url = new URL(message.url);
  const literal = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) !== 0 && isRefused(literal, options.allowed)) throw refusal(url.hostname, literal);
  const { request: send } = url.protocol === 'https:' ? https() : http;
  const settings: RequestOptions = {
    method: 'POST',
    // A new connection each time: a kept one could belong to a name whose address was checked earlier.
    agent: false,
    lookup: guardedLookup(options.allowed),
    signal: context.signal,
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(message.body),
      'user-agent': `workron/${options.version}`,
      'x-workron-job': String(context.jobId),
      'x-workron-attempt': String(context.attempt),
      ...(message.delivery === null ? {} : { 'x-workron-delivery': message.delivery }),
      ...(message.timestamp === null ? {} : { 'x-workron-timestamp': message.timestamp }),
      ...(message.signature === null ? {} : { 'x-workron-signature': message.signature }),
    },
  };
  return new Promise((resolve, reject) => {
    const request = send(url, settings, (response) => {
      response.resume();
      response.once('end', () => {
        const error = errorOf(response);
        if (error === null) resolve(response.statusCode as number);
        else reject(error);
      });
      response.once('error', reject);
      response.once('close', () => reject(new Error('the connection was closed before the answer was complete')));
    });
    request.once('error', reject);
    request.end(message.body);
  });
}

/** Connects to the address that was checked, so that the name cannot resolve to another one in between. */
function guardedLookup(allowed: BlockList): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '');
      const open = addresses.filter(({ address }) => !isRefused(address, allowed));
      const [first] = open;
      if (first === undefined) return callback(refusal(hostname, addresses[0]?.address ?? 'nothing'), '');
      if (options.all === true) callback(null, open);
      else callback(null, first.address, first.family);
    });
  };
}

function refusal(hostname: string, address: string): Fatal {
  return new Fatal(`${hostname} is ${address}, a private address; set notify-allow-private to allow it`);
}

/** Returns an ordinary error if a retry may help, and `Fatal` if not. */
function errorOf(response: IncomingMessage): Error | null {
  const { statusCode = 0, headers } = response;
  if (statusCode >= 200 && statusCode < 300) return null;
  const text = `the webhook answered ${statusCode}`;
  if (statusCode >= 300 && statusCode < 400) return new Fatal(`${text}: redirects are not followed`);
  const seconds = /^\d{1,5}$/.test(headers['retry-after'] ?? '') ? Number(headers['retry-after']) : null;
  if (seconds !== null && (statusCode === 429 || statusCode === 503)) return new RetryAfter(seconds * 1_000, text);
  const mayPass = statusCode >= 500 || statusCode === 408 || statusCode === 425 || statusCode === 429;
  return mayPass ? new Error(text) : new Fatal(text);
}
