import {
  context,
  createContextKey,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
} from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { Tracing as ClientTracing } from "evaluator-client";
import { openTelemetryTracing } from "evaluator-client/opentelemetry";
import type { TraceProtocol } from "../config/trace-variables.ts";
import type { Decision } from "../decision/decision.ts";
import type { GeneratedReply } from "../reply/generate-reply.ts";
import { findInput, noUsage } from "../reply/usage.ts";

/** The caller's own trace, in W3C's headers. */
export interface TraceHeaders {
  readonly traceparent?: string;
  readonly tracestate?: string;
}

/** Traces requests, evaluations and replies. */
export type Tracing = ReturnType<typeof startTracing>;

const TEXT_ALLOWED = createContextKey("texts of clients' questions");

const exporters = {
  "http/json": JsonExporter,
  "http/protobuf": ProtobufExporter,
} satisfies Record<TraceProtocol, unknown>;

/** Starts to send traces, as OpenTelemetry's own variables configure it. No span holds a message's text. */
export function startTracing(protocol: TraceProtocol) {
  const namedResource = resourceFromAttributes({ "service.name": "evaluator-router" });
  const provider = new BasicTracerProvider({
    resource: namedResource.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new exporters[protocol]())],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const tracer = provider.getTracer("evaluator-router");
  const [withoutText, withText] = [false, true].map((recordContent) =>
    openTelemetryTracing({ tracer, recordContent }),
  ) as [ClientTracing, ClientTracing];
  const evaluation: ClientTracing = (tracedCall, run) =>
    (context.active().getValue(TEXT_ALLOWED) === true ? withText : withoutText)(tracedCall, run);
  return {
    evaluation,
    /** Runs an evaluation whose span holds its state and answers. */
    withText: <TResult>(askTraced: () => TResult) =>
      context.with(context.active().setValue(TEXT_ALLOWED, true), askTraced),
    /** Runs a request as a span, a child of the caller's span if it sent one. */
    request(
      { method, path }: Readonly<Record<"method" | "path", string>>,
      { requestId, trace }: { readonly requestId: string; readonly trace: TraceHeaders },
      requestWork: () => Promise<number>,
    ) {
      const parentContext = propagation.extract<TraceHeaders>(ROOT_CONTEXT, trace);
      const attributes = {
        "http.request.method": method,
        "http.route": path,
        "http.request.header.x-request-id": [requestId],
      };
      const spanOptions = { kind: SpanKind.SERVER, attributes };
      return tracer.startActiveSpan(`${method} ${path}`, spanOptions, parentContext, (span) =>
        ended(span, async () => {
          const status = await requestWork();
          span.setAttribute("http.response.status_code", status);
          if (status >= 500) fail(span, String(status));
        }),
      );
    },
    /** Runs a reply as a span with the attributes of the conventions for generative AI. */
    reply(now: () => Pick<Decision, "model" | "upstream">, ask: () => Promise<GeneratedReply>) {
      const { model, upstream } = now();
      const attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": upstream,
        "gen_ai.request.model": model,
      };
      const spanOptions = { kind: SpanKind.CLIENT, attributes };
      return tracer.startActiveSpan(`chat ${model}`, spanOptions, (span) =>
        ended(span, async () => {
          const tracedReply = await ask();
          const usage = tracedReply.end?.usage ?? noUsage;
          const lastModel = now(); // a fallback model may have replied
          const usageNumbers = {
            input_tokens: findInput(usage),
            output_tokens: usage.output,
            "cache_read.input_tokens": usage.cacheRead,
            "cache_creation.input_tokens": usage.cacheWrite,
          };
          span.setAttribute("gen_ai.provider.name", lastModel.upstream);
          span.setAttribute("gen_ai.response.model", lastModel.model);
          for (const [usageName, tokenCount] of Object.entries(usageNumbers))
            if (tokenCount !== null) span.setAttribute(`gen_ai.usage.${usageName}`, tokenCount);
          if (tracedReply.replyError !== null)
            fail(span, tracedReply.failure ?? String(tracedReply.httpError?.status ?? "_OTHER"));
          return tracedReply;
        }),
      );
    },
    headers() {
      const traceHeaders: Record<string, string> = {};
      propagation.inject(context.active(), traceHeaders);
      return traceHeaders;
    },
    async close() {
      await provider.shutdown().catch(() => undefined); // the collector may be gone
      context.disable();
      propagation.disable();
    },
  };
}

/** Records only an error's name, since its message may hold a text. */
async function ended<TResult>(span: Span, spanWork: () => Promise<TResult>): Promise<TResult> {
  try {
    return await spanWork();
  } catch (error) {
    fail(span, error instanceof Error ? error.name : "_OTHER");
    throw error;
  } finally {
    span.end();
  }
}

function fail(span: Span, errorType: string): void {
  span.setAttribute("error.type", errorType);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
