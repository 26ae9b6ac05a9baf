import { type Span, SpanKind, SpanStatusCode, trace, type Tracer } from "@opentelemetry/api";
import { type Clock, type EvaluatorRuntime, readRuntime } from "../clock.ts";
import { checkOptions, optionsNamed } from "../options.ts";
import type { Evaluation } from "../evaluation.ts";
import type { TracedCall, Tracing } from "../evaluator-options.ts";
import type { Hooks } from "../logger.ts";
import { withoutImageBytes } from "../questions/state.ts";

/** Options of {@link openTelemetryTracing}. */
export interface OpenTelemetryTracingOptions {
  /** @default the global provider's tracer "evaluator-client" */
  tracer?: Tracer | undefined;
  /** Whether spans hold the state, the questions and the answers. @default false */
  recordContent?: boolean | undefined;
}

/**
 * Traces every call as a GenAI client span, with one HTTP client span for each attempt, after the
 * OpenTelemetry semantic conventions and OpenInference's for decisions. Nothing of the state is recorded unless asked for.
 *
 * @throws {ConfigurationError} when there is no such option.
 * @example
 * ```ts
 * const evaluator = createEvaluator({ tracing: openTelemetryTracing() });
 * ```
 */
export function openTelemetryTracing(
  options: OpenTelemetryTracingOptions = {},
  runtime: EvaluatorRuntime = {},
): Tracing {
  checkOptions(optionsNamed("tracer", "recordContent"), options);
  const { clock } = readRuntime(runtime);
  const { tracer = trace.getTracer("evaluator-client"), recordContent = false } = options;
  return (call, run) => {
    const { name, attributes } = describe(call, recordContent);
    return tracer.startActiveSpan(name, { kind: SpanKind.CLIENT, attributes }, async (span) => {
      try {
        const evaluation = await run(listHooks(span, call.transport, { tracer, clock }));
        describeAnswer(span, evaluation, recordContent);
        return evaluation;
      } catch (error) {
        fail(span, error);
        throw error;
      } finally {
        span.end();
      }
    });
  };
}

function describe({ request, transport }: TracedCall, recordContent: boolean) {
  const { name, target, wire = name } = transport;
  const { state, questions } = request;
  // Megabytes of an image belong in no span.
  const input = recordContent
    ? JSON.stringify({ state: withoutImageBytes(state), questions })
    : undefined;
  const attributes = {
    "gen_ai.operation.name": "evaluate",
    "gen_ai.provider.name": name,
    "openinference.span.kind": "DECISION",
    "decision.system": systems.get(wire) ?? "typesafe",
    "decision.provider": name,
    ...(target && {
      "gen_ai.request.model": target.modelId,
      "decision.model_name": target.modelId,
      "decision.request.model_name": target.modelId,
      ...toServer(target.url),
    }),
    ...(input !== undefined && toContent("input", input)),
  };
  return { name: target ? `evaluate ${target.modelId}` : "evaluate", attributes };
}

/** OpenInference's names of the forms that transports speak; the others have the vendor's. */
const systems = new Map([
  ["decisions", "openai"],
  ["logprobs", "openai"],
  ["gemini", "google"],
]);

/** Returns a text as both conventions have it; readers of GenAI's drop a message of another form. */
function toContent(side: "input" | "output", json: string) {
  const end = side === "input" ? { role: "user" } : { role: "assistant", finish_reason: "stop" };
  const messages = [{ ...end, parts: [{ type: "text", content: json }] }];
  return {
    [`gen_ai.${side}.messages`]: JSON.stringify(messages),
    [`${side}.value`]: json,
    [`${side}.mime_type`]: "application/json",
  };
}

function describeAnswer(span: Span, evaluation: Evaluation, recordContent: boolean): void {
  const { usage, modelId, requestId, costUsd, answers } = evaluation;
  span.setAttributes({
    ...(usage !== null && {
      "gen_ai.usage.input_tokens": usage.inputTokens,
      "gen_ai.usage.output_tokens": usage.outputTokens,
      "decision.token_count.input": usage.inputTokens,
      "decision.token_count.output": usage.outputTokens,
    }),
    ...(modelId !== null && {
      "gen_ai.response.model": modelId,
      "decision.model_name": modelId,
      "decision.response.model_name": modelId,
    }),
    ...(requestId !== null && { "gen_ai.response.id": requestId }),
    ...(costUsd !== null && { "evaluator.cost_usd": costUsd }),
    ...(recordContent && toContent("output", JSON.stringify(answers))),
  });
}

/** Adds a span for each attempt and, to the span of the call, an event for each wait. */
function listHooks(
  callSpan: Span,
  { target }: TracedCall["transport"],
  { tracer, clock }: { tracer: Tracer; clock: Clock },
): Hooks {
  return {
    onAttempt({ attempt, durationMs, status, error }) {
      const endTime = clock.epochNow();
      const span = tracer.startSpan("POST", {
        kind: SpanKind.CLIENT,
        startTime: endTime - durationMs,
        attributes: {
          "http.request.method": "POST",
          ...(attempt > 1 && { "http.request.resend_count": attempt - 1 }),
          ...(status !== null && { "http.response.status_code": status }),
          ...(target && { "url.full": target.url, ...toServer(target.url) }),
        },
      });
      if (error !== null) fail(span, error);
      span.end(endTime);
    },
    onWait({ reason, delayMs }) {
      callSpan.addEvent(`wait.${reason}`, delayMs === null ? {} : { "wait.delay_ms": delayMs });
    },
  };
}

function fail(span: Span, error: unknown): void {
  const isError = error instanceof Error;
  span.setAttribute("error.type", isError ? error.name : "_OTHER");
  // An abort reason is the caller's own and may hold anything, so only its name is recorded.
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function toServer(address: string) {
  const { hostname, port, protocol } = new URL(address);
  const defaultPort = protocol === "https:" ? 443 : 80;
  return { "server.address": hostname, "server.port": Number(port) || defaultPort };
}
