/**
 * OpenTelemetry spans by the semantic conventions for messaging, if `@opentelemetry/api` is installed. The trace context
 * travels with the job as the variables TRACEPARENT, TRACESTATE and BAGGAGE, so that commands get it too.
 */

import type * as OpenTelemetry from '@opentelemetry/api';
import { Stopped } from '../core/handler-errors.ts';
import { textOfThrown, thrownOf } from '../worker/run/thrown.ts';
import type { OwnMiddleware, RunCall, SubmitCall } from './middleware.ts';

const CARRIED = ['traceparent', 'tracestate', 'baggage'].map((name) => [name, name.toUpperCase()] as const);

function isCarriedBy(env: Readonly<Record<string, string>>): boolean {
  for (const _ in env) return CARRIED.some(([, variable]) => env[variable] !== undefined);
  return false;
}

/** Returns the trace context that a job carries, by the names of its headers. */
function carrierOf(env: Readonly<Record<string, string>>): Record<string, string | undefined> {
  const carried = CARRIED.filter(([, variable]) => env[variable] !== undefined);
  return Object.fromEntries(carried.map(([name, variable]) => [name, env[variable]]));
}

/** `null` if the package is not installed. */
export async function tracing(version: string): Promise<OwnMiddleware | null> {
  try {
    return middlewareOf(await import('@opentelemetry/api'), version);
  } catch {
    return null;
  }
}

function middlewareOf(
  { trace, context, propagation, ProxyTracerProvider, SpanKind, SpanStatusCode }: typeof OpenTelemetry,
  version: string,
): OwnMiddleware {
  const tracer = trace.getTracer('workron', version);
  /** True if spans are recorded. The application may register a provider at any time. */
  const isOn = () => {
    const provider = trace.getTracerProvider();
    return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer('workron') !== undefined;
  };
  const passes = ({ env }: RunCall['context']) => !isOn() && !isCarriedBy(env);
  /** Calls `work`, records its error with the secrets of the job masked, and ends the span. */
  const recorded = async <T>(span: OpenTelemetry.Span, mask: Mask, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      span.recordException(exceptionOf(error, mask));
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  };
  return {
    submit(call, next) {
      if (!isOn() && propagation.fields().length === 0) return next();
      const queue = queueOf(call);
      const attributes = submitAttributes(call, queue);
      return tracer.startActiveSpan(`submit ${queue}`, { kind: SpanKind.PRODUCER, attributes }, (span) =>
        recorded(span, asItIs, async () => {
          const carrier: Record<string, string> = {};
          propagation.inject(context.active(), carrier);
          const env = Object.fromEntries(Object.entries(carrier).map(([name, value]) => [name.toUpperCase(), value]));
          if (Object.keys(env).length > 0) call.options = { ...call.options, env: { ...env, ...call.options.env } };
          const handles = await next();
          // A layer further in may have named another queue.
          if (queueOf(call) !== queue) {
            span.updateName(`submit ${queueOf(call)}`);
            span.setAttribute('messaging.destination.name', queueOf(call));
          }
          if (handles[0] !== undefined && handles.length === 1)
            span.setAttribute('messaging.message.id', handles[0].id);
          return handles;
        }),
      );
    },
    passes,
    run(call, next) {
      if (passes(call.context)) return next();
      const { env, queue } = call.context;
      const attributes = runAttributes(call);
      const from = propagation.extract(context.active(), carrierOf(env));
      return tracer.startActiveSpan(`run ${queue}`, { kind: SpanKind.CONSUMER, attributes }, from, (span) => {
        endIfSuspended(span, call.context.signal);
        return recorded(span, call.mask, async () => next());
      });
    },
  };
}

/** What a suspended function awaits never settles. */
function endIfSuspended(span: OpenTelemetry.Span, signal: AbortSignal): void {
  const end = () => {
    const reason: unknown = signal.reason;
    if (reason instanceof Stopped && reason.reason === 'suspended') span.setAttribute('workron.suspended', true).end();
  };
  signal.addEventListener('abort', end, { once: true });
}

type Mask = (text: string) => string;
const asItIs: Mask = (text) => text;

function exceptionOf(error: unknown, mask: Mask): OpenTelemetry.Exception {
  const stack = mask(textOfThrown(error));
  const { thrown } = thrownOf(error);
  if (thrown === undefined) return stack;
  const { name, message, code } = thrown;
  return { name: mask(name), message: mask(message), stack, ...(code !== null && { code: mask(code) }) };
}

function queueOf({ queue, options }: SubmitCall): string {
  return options.queue ?? queue;
}

function submitAttributes({ job, inputs }: SubmitCall, queue: string): OpenTelemetry.Attributes {
  return {
    'messaging.system': 'workron',
    'messaging.operation.type': 'send',
    'messaging.operation.name': 'submit',
    'messaging.destination.name': queue,
    'workron.job': job ?? 'command',
    ...(inputs.length > 1 ? { 'messaging.batch.message_count': inputs.length } : {}),
  };
}

function runAttributes({ job, context: { id, attempt, queue } }: RunCall): OpenTelemetry.Attributes {
  return {
    'messaging.system': 'workron',
    'messaging.operation.type': 'process',
    'messaging.operation.name': 'run',
    'messaging.destination.name': queue,
    'messaging.message.id': id,
    'workron.job': job,
    'workron.attempt': attempt,
  };
}
