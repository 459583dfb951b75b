/**
 * Exports spans with the OpenTelemetry SDK. Attributes are names and numbers of the service itself: never headers,
 * queries, bodies, messages of errors or names of collections, because those may contain secrets or values of rows.
 * The tracing packages are used without @opentelemetry/sdk-node, which requires a newer Node.js and installs gRPC.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  defaultTextMapGetter,
  trace,
} from '@opentelemetry/api';
import { type ExportResult, ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { limitTime } from '../kernel/time.js';
import type { HandledRequest } from '../http/request-log.js';
import type { Apply, Pipeline } from '../pipeline/types.js';
import type { Logger } from '../postgres/logger.js';
import { type ExportedSpans, commandLabel, outcomeLabels } from './index.js';

/** Returns the facts about the handled request, or null if its client disconnected. */
type AnswerRequest = () => Promise<HandledRequest | null>;

export interface Traces {
  /** Runs `work` in a span. The caller's `traceparent` is its parent. */
  request(req: IncomingMessage, route: string, work: AnswerRequest): Promise<HandledRequest | null>;
  /** Wraps a pipeline: each command is a span, inside the span of its request. */
  traced(pipeline: Pipeline): Pipeline;
  /** Exports the last spans, for a few seconds at most. */
  stop(): Promise<void>;
}

export interface Collector {
  /** The address of the collector, without `/v1/traces`. */
  endpoint: string;
  /** HTTP headers of every export, for example an API key. */
  headers: Readonly<Record<string, string>>;
}

export interface TraceOptions extends Collector {
  release: string;
  logger: Logger;
  onExport: ExportedSpans;
}

/** Milliseconds that the last export may take at shutdown. */
const LAST_EXPORT = 3_000;

/** A span of finished work. */
interface Finished {
  attributes: Attributes;
  failed: boolean;
}

export function createTraces(options: TraceOptions): Traces {
  const { release, logger } = options;
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'data-platform-service', 'service.version': release }))
      // Adds the attributes of OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES.
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(createExporter(options))],
  });
  const tracer = provider.getTracer('data-platform-service', release);
  const propagator = new W3CTraceContextPropagator();
  // The context is kept here instead of in the global context of the API, because several services may run in one
  // process.
  const current = new AsyncLocalStorage<Context>();

  const inSpan = async <T>(
    { name, kind, attributes, parent }: { name: string; kind: SpanKind; attributes: Attributes; parent: Context },
    work: () => Promise<T>,
    describe: (result: T) => Finished,
  ): Promise<T> => {
    const span = tracer.startSpan(name, { kind, attributes }, parent);
    try {
      const result = await current.run(trace.setSpan(parent, span), work);
      const { attributes: found, failed } = describe(result);
      span.setAttributes(found);
      if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
      return result;
    } catch (error) {
      span.setAttribute('error.type', 'INTERNAL').setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  };

  return {
    request: (req, route, work) => {
      const method = req.method ?? '_OTHER';
      const parent = propagator.extract(ROOT_CONTEXT, req.headers, defaultTextMapGetter);
      const attributes = { 'http.request.method': method, 'http.route': route };
      return inSpan({ name: `${method} ${route}`, kind: SpanKind.SERVER, attributes, parent }, work, (handled) =>
        handled === null
          ? { attributes: { 'error.type': 'disconnected' }, failed: false }
          : {
              attributes: {
                'http.response.status_code': handled.status,
                'dps.request_id': handled.requestId,
                ...(handled.position !== undefined && { 'dps.position': handled.position }),
                ...(handled.status >= 500 && { 'error.type': String(handled.status) }),
              },
              failed: handled.status >= 500,
            },
      );
    },
    traced: (pipeline) => {
      const { apply } = pipeline as { apply: Apply };
      const traced: Apply = (name, command, request) => {
        const label = commandLabel(name, request);
        const parent = current.getStore() ?? ROOT_CONTEXT;
        const attributes = { 'dps.command': label };
        return inSpan(
          { name: `command ${label}`, kind: SpanKind.INTERNAL, attributes, parent },
          () => apply(name, command, request),
          (outcome) => {
            const { outcome: kind, code } = outcomeLabels(outcome);
            return {
              attributes: {
                'dps.outcome': kind,
                ...(code !== '' && { 'error.type': code }),
                ...(outcome.kind === 'done' && {
                  'dps.position': outcome.position,
                  'dps.events': outcome.events.length,
                }),
              },
              failed: kind === 'refused',
            };
          },
        );
      };
      return { ...pipeline, apply: traced };
    },
    stop: async () => {
      await limitTime(provider.shutdown(), LAST_EXPORT).catch(() =>
        logger.warn('the last traces could not be exported before the service stopped'),
      );
    },
  };
}

const createOtlpExporter = ({ endpoint, headers }: Collector, timeoutMillis?: number): OTLPTraceExporter =>
  new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: { ...headers },
    ...(timeoutMillis !== undefined && { timeoutMillis }),
  });

/** Reports the first failure of an outage and its end. Spans of failed exports are lost. */
function createExporter({ logger, onExport, ...collector }: TraceOptions): SpanExporter {
  const exporter = createOtlpExporter(collector);
  let isFailing = false;
  const report = ({ code, error }: ExportResult, spans: number): void => {
    const failed = code !== ExportResultCode.SUCCESS;
    onExport(failed ? 'lost' : 'exported', spans);
    if (failed && !isFailing) logger.warn('traces cannot be exported and are lost', { error: error?.message });
    if (!failed && isFailing) logger.info('traces are exported again');
    isFailing = failed;
  };
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        report(result, spans.length);
        done(result);
      }),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}

/** Milliseconds that a test export may take, with its retries. */
const TEST_EXPORT = 3_000;

/**
 * Sends an export without spans, with the settings of every other export.
 * @throws with the reason if the collector does not accept it
 */
export async function testExport(collector: Collector): Promise<void> {
  const exporter = createOtlpExporter(collector, TEST_EXPORT);
  try {
    const { code, error } = await new Promise<ExportResult>((resolve) => exporter.export([], resolve));
    if (code !== ExportResultCode.SUCCESS) throw new Error(describeExportError(error));
  } finally {
    await exporter.shutdown();
  }
}

/** The message of an HTTP error is only the reason phrase, such as "Not Found". */
function describeExportError(error: (Error & { code?: unknown }) | undefined): string {
  if (typeof error?.code === 'number') return `it answers with status ${error.code}`;
  return error?.message ?? 'the export failed';
}
