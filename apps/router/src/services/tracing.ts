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
  const evaluation: ClientTracing = (call, run) =>
    (context.active().getValue(TEXT_ALLOWED) === true ? withText : withoutText)(call, run);
  return {
    evaluation,
    /** Runs an evaluation whose span holds its state and answers. */
    withText: <TResult>(ask: () => TResult) =>
      context.with(context.active().setValue(TEXT_ALLOWED, true), ask),
    /** Runs a request as a span, a child of the caller's span if it sent one. */
    request(
      { method, path }: Readonly<Record<"method" | "path", string>>,
      { requestId, trace }: { readonly requestId: string; readonly trace: TraceHeaders },
      work: () => Promise<number>,
    ) {
      const parent = propagation.extract<TraceHeaders>(ROOT_CONTEXT, trace);
      const attributes = {
        "http.request.method": method,
        "http.route": path,
        "http.request.header.x-request-id": [requestId],
      };
      const options = { kind: SpanKind.SERVER, attributes };
      return tracer.startActiveSpan(`${method} ${path}`, options, parent, (span) =>
        ended(span, async () => {
          const status = await work();
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
      const options = { kind: SpanKind.CLIENT, attributes };
      return tracer.startActiveSpan(`chat ${model}`, options, (span) =>
        ended(span, async () => {
          const reply = await ask();
          const usage = reply.end?.usage ?? noUsage;
          const last = now(); // a fallback model may have replied
          const numbers = {
            input_tokens: findInput(usage),
            output_tokens: usage.output,
            "cache_read.input_tokens": usage.cacheRead,
            "cache_creation.input_tokens": usage.cacheWrite,
          };
          span.setAttribute("gen_ai.provider.name", last.upstream);
          span.setAttribute("gen_ai.response.model", last.model);
          for (const [name, count] of Object.entries(numbers))
            if (count !== null) span.setAttribute(`gen_ai.usage.${name}`, count);
          if (reply.replyError !== null)
            fail(span, reply.failure ?? String(reply.httpError?.status ?? "_OTHER"));
          return reply;
        }),
      );
    },
    headers() {
      const carrier: Record<string, string> = {};
      propagation.inject(context.active(), carrier);
      return carrier;
    },
    async close() {
      await provider.shutdown().catch(() => undefined); // the collector may be gone
      context.disable();
      propagation.disable();
    },
  };
}

/** Records only an error's name, since its message may hold a text. */
async function ended<TResult>(span: Span, work: () => Promise<TResult>): Promise<TResult> {
  try {
    return await work();
  } catch (error) {
    fail(span, error instanceof Error ? error.name : "_OTHER");
    throw error;
  } finally {
    span.end();
  }
}

function fail(span: Span, type: string): void {
  span.setAttribute("error.type", type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
