/**
 * OpenTelemetry spans by the semantic conventions for messaging, if `@opentelemetry/api` is installed. The trace context
 * travels with the job as the variables TRACEPARENT, TRACESTATE and BAGGAGE, so that commands get it too.
 */

import type * as OpenTelemetry from '@opentelemetry/api';
import type { Middleware } from './middleware.ts';

const CARRIED = ['traceparent', 'tracestate', 'baggage'].map((name) => [name, name.toUpperCase()] as const);

function isCarriedBy(env: Readonly<Record<string, string>>): boolean {
  for (const _ in env) return CARRIED.some(([, variable]) => env[variable] !== undefined);
  return false;
}

/** `null` if the package is not installed. */
export async function tracing(version: string): Promise<Middleware | null> {
  try {
    return middlewareOf(await import('@opentelemetry/api'), version);
  } catch {
    return null;
  }
}

function middlewareOf(
  { trace, context, propagation, ProxyTracerProvider, SpanKind, SpanStatusCode }: typeof OpenTelemetry,
  version: string,
): Middleware {
  const tracer = trace.getTracer('workron', version);
  /** True if spans are recorded. The application may register a provider at any time. */
  const isOn = () => {
    const provider = trace.getTracerProvider();
    return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer('workron') !== undefined;
  };
  const fail = (span: OpenTelemetry.Span, error: unknown) => {
    span.recordException(error instanceof Error ? error : String(error));
    span.setStatus({ code: SpanStatusCode.ERROR });
  };
  return {
    submit(call, next) {
      if (!isOn() && propagation.fields().length === 0) return next();
      const queue = call.options.queue ?? 'default';
      const attributes = {
        'messaging.system': 'workron',
        'messaging.operation.type': 'send',
        'messaging.operation.name': 'submit',
        'messaging.destination.name': queue,
        'workron.job': call.job ?? 'command',
        ...(call.inputs.length > 1 ? { 'messaging.batch.message_count': call.inputs.length } : {}),
      };
      return tracer.startActiveSpan(`submit ${queue}`, { kind: SpanKind.PRODUCER, attributes }, async (span) => {
        try {
          const carrier: Record<string, string> = {};
          propagation.inject(context.active(), carrier);
          const env = Object.fromEntries(Object.entries(carrier).map(([name, value]) => [name.toUpperCase(), value]));
          if (Object.keys(env).length > 0) call.options = { ...call.options, env: { ...env, ...call.options.env } };
          const handles = await next();
          if (handles[0] !== undefined && handles.length === 1)
            span.setAttribute('messaging.message.id', handles[0].id);
          return handles;
        } catch (error) {
          fail(span, error);
          throw error;
        } finally {
          span.end();
        }
      });
    },
    run({ job, context: { id, attempt, env, queue } }, next) {
      if (!isOn() && !isCarriedBy(env)) return next();
      const carried = CARRIED.filter(([, variable]) => env[variable] !== undefined);
      const carrier = Object.fromEntries(carried.map(([name, variable]) => [name, env[variable]]));
      const attributes = {
        'messaging.system': 'workron',
        'messaging.operation.type': 'process',
        'messaging.operation.name': 'run',
        'messaging.destination.name': queue,
        'messaging.message.id': id,
        'workron.job': job,
        'workron.attempt': attempt,
      };
      const from = propagation.extract(context.active(), carrier);
      return tracer.startActiveSpan(`run ${queue}`, { kind: SpanKind.CONSUMER, attributes }, from, async (span) => {
        try {
          return await next();
        } catch (error) {
          fail(span, error);
          throw error;
        } finally {
          span.end();
        }
      });
    },
  };
}
