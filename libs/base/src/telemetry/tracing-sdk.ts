import { randomUUID } from 'node:crypto';
import {
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { parseKeyPairsIntoRecord } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { samplerOf } from './sampler.ts';
import type { SpanAttributes, SpanOptions, TraceSpan, Tracing } from './spans.ts';
import { readTraceparent, writeTraceparent } from './traceparent.ts';
import type { TracingConfig } from './tracing-config.ts';
import { version } from './version.ts';
import { WatchedExporter } from './watched-exporter.ts';

/** The longest text of an attribute, in characters. */
const longestText = 256;
/** How long a process waits for the collector when the process ends, in ms. */
const flushMs = 1_000;
const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const;

/** Sets up OpenTelemetry for this process, including its global API. Handlers may use this API for spans of their own. */
export function createTracing(name: string, config: TracingConfig): Tracing {
  const exporter = new WatchedExporter(
    new OTLPTraceExporter({ url: urlOf(config), headers: headersOf(config) }),
  );
  const provider = new TracerProvider({
    resource: resourceOf(name, config),
    sampler: samplerOf(config),
    spanLimits: { attributeValueLengthLimit: longestText },
    spanProcessors: [new BatchSpanProcessor({ exporter, ...batchesOf(config) })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  const tracer = provider.getTracer('kith', version);
  return {
    active() {
      const place = trace.getSpanContext(context.active());
      return place && writeTraceparent({ ...place, flags: place.traceFlags });
    },
    start(spanName, { kind, parent, attributes }) {
      const within = parentOf(parent);
      return wrap(
        tracer.startSpan(spanName, { kind: kinds[kind], attributes: attributes ?? {} }, within),
        within,
      );
    },
    detached: (work) => context.with(ROOT_CONTEXT, work),
    logTo: (log) => exporter.logTo(log),
    async stop() {
      // Without this limit, the shutdown would wait for a missing collector as long as an export may take.
      await atMost(provider.shutdown(), flushMs);
      trace.disable();
      context.disable();
    },
  };
}

function wrap(span: Span, within: Context): TraceSpan {
  const place = span.spanContext();
  const active = trace.setSpan(within, span);
  return {
    traceparent: writeTraceparent({ ...place, flags: place.traceFlags }),
    run: (work) => context.with(active, work),
    rename: (name) => void span.updateName(name),
    set: (attributes) => void span.setAttributes(attributes),
    end(failure) {
      if (failure !== undefined) {
        span.setAttribute('error.type', failure);
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },
  };
}

function parentOf(parent: SpanOptions['parent']): Context {
  if (parent === undefined) return context.active();
  const place = readTraceparent(parent);
  if (!place) return ROOT_CONTEXT;
  const { traceId, spanId, flags } = place;
  const traceFlags = flags & TraceFlags.SAMPLED;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

/**
 * Describes the process that makes the spans. Does not use OpenTelemetry's process detector: it would add the command line,
 * which can contain private data.
 */
function resourceOf(name: string, config: TracingConfig): Resource {
  const own: SpanAttributes = {
    'service.namespace': 'kith',
    'service.name': name === 'kith' ? name : `kith-${name}`,
    'service.version': version,
    'service.instance.id': randomUUID(),
  };
  const given: SpanAttributes = parseKeyPairsIntoRecord(config.OTEL_RESOURCE_ATTRIBUTES);
  const { OTEL_SERVICE_NAME: service } = config;
  if (service) given['service.name'] = service;
  return defaultResource().merge(resourceFromAttributes({ ...own, ...given }));
}

/**
 * The address that traces are sent to. If only the general address of the collector is set, this adds the path for traces. If
 * no address is set, the exporter uses its default.
 */
function urlOf(config: TracingConfig): string | undefined {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: whole, OTEL_EXPORTER_OTLP_ENDPOINT: base } = config;
  return whole ?? (base && `${base.replace(/\/$/, '')}/v1/traces`);
}

function headersOf(config: TracingConfig): Record<string, string> {
  const { OTEL_EXPORTER_OTLP_HEADERS: all, OTEL_EXPORTER_OTLP_TRACES_HEADERS: ofTraces } = config;
  return { ...parseKeyPairsIntoRecord(all), ...parseKeyPairsIntoRecord(ofTraces) };
}

function batchesOf(config: TracingConfig) {
  const settings = {
    scheduledDelayMillis: config.OTEL_BSP_SCHEDULE_DELAY,
    maxQueueSize: config.OTEL_BSP_MAX_QUEUE_SIZE,
    maxExportBatchSize: config.OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
    exportTimeoutMillis: config.OTEL_BSP_EXPORT_TIMEOUT,
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

async function atMost(work: Promise<void>, ms: number): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work.catch(() => undefined), late]);
  clearTimeout(timer);
}
