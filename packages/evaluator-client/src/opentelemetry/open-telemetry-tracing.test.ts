import { context, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { image, type State } from "../questions/state.ts";
import { emailRequest, gatewayBody } from "../testing/email-evaluation.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { onePixel } from "../testing/one-pixel.ts";
import { directTransport } from "../transports/direct/direct-transport.ts";
import { gatewayTransport } from "../transports/gateway/gateway-transport.ts";
import { logprobsTransport } from "../transports/logprobs/logprobs-transport.ts";
import type { Transport } from "../transports/transport.ts";
import { openTelemetryTracing } from "./open-telemetry-tracing.ts";

const server = {
  apiKey: "a-key",
  baseUrl: "http://127.0.0.1:8080",
  model: "m",
  env: {},
  fetch: async () => Response.json({}, { status: 400 }),
};

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

/** The spans of one call that is answered with the given responses in turn. */
async function spansOf(
  responses: readonly Response[],
  options: { recordContent?: boolean } = {},
  state: State = emailRequest.state,
): Promise<ReadableSpan[]> {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const tracing = openTelemetryTracing({ tracer: provider.getTracer("test"), ...options });
  const left = [...responses];
  const fetch = async () => left.shift() ?? Response.error();
  const wire = Array.isArray(state) ? "decision-model" : "evaluation-model";
  const transport = gatewayTransport({ apiKey: "planted-secret-key", fetch, wire });
  const evaluator = createEvaluator({ transport, tracing }, { random: () => 0 });
  await evaluator.evaluate({ ...emailRequest, state }).catch(() => undefined);
  return exporter.getFinishedSpans();
}

test("traces the call and each attempt after the conventions", async () => {
  const [failed, answered, call] = await spansOf([
    Response.json({}, { status: 500 }),
    Response.json(gatewayBody),
  ]);
  expect(call).toMatchObject({
    name: "evaluate typesafe-ai/jev",
    attributes: {
      "gen_ai.operation.name": "evaluate",
      "gen_ai.provider.name": "gateway",
      "gen_ai.request.model": "typesafe-ai/jev",
      "gen_ai.response.model": "typesafe-ai/jev",
      "gen_ai.response.id": "gen_1",
      "gen_ai.usage.input_tokens": 336,
      "gen_ai.usage.output_tokens": 3,
      "openinference.span.kind": "DECISION",
      "decision.system": "typesafe",
      "decision.provider": "gateway",
      "decision.model_name": "typesafe-ai/jev",
      "decision.request.model_name": "typesafe-ai/jev",
      "decision.response.model_name": "typesafe-ai/jev",
      "decision.token_count.input": 336,
      "decision.token_count.output": 3,
      "evaluator.cost_usd": 0.000014112,
      "server.address": "ai-gateway.vercel.sh",
      "server.port": 443,
    },
    events: [{ name: "wait.backoff", attributes: { "wait.delay_ms": 0 } }],
  });
  expect(failed).toMatchObject({
    name: "POST",
    status: { code: SpanStatusCode.ERROR },
    attributes: {
      "http.request.method": "POST",
      "http.response.status_code": 500,
      "url.full": "https://ai-gateway.vercel.sh/v4/ai/evaluation-model",
      "error.type": "StatusError",
    },
  });
  expect(answered?.attributes).toMatchObject({
    "http.response.status_code": 200,
    "http.request.resend_count": 1,
  });
  for (const attempt of [failed, answered]) {
    expect(attempt?.parentSpanContext?.spanId).toBe(call?.spanContext().spanId);
  }
});

test("marks a call that failed", async () => {
  const [, call] = await spansOf([Response.json({}, { status: 401 })]);
  expect(call).toMatchObject({
    status: { code: SpanStatusCode.ERROR },
    attributes: { "error.type": "AuthenticationError" },
  });
});

test("records content only when asked, and never the key", async () => {
  const exported = JSON.stringify((await spansOf([Response.json(gatewayBody)])).map(contentOf));
  expect(exported).not.toMatch(/Your invoice|receipt|planted/);
  const asked = await spansOf([Response.json(gatewayBody)], { recordContent: true });
  const [input, output] = [emailRequest, gatewayBody.answers].map((one) => JSON.stringify(one));
  const [asking, answering] = [input, output].map((content) => [{ type: "text", content }]);
  const attributes = asked.at(-1)?.attributes;
  expect(attributes).toMatchObject({ "input.value": input, "output.value": output });
  const messagesOf = (side: string): unknown =>
    JSON.parse(String(attributes?.[`gen_ai.${side}.messages`]));
  expect(messagesOf("input")).toEqual([{ role: "user", parts: asking }]);
  expect(messagesOf("output")).toEqual([
    { role: "assistant", finish_reason: "stop", parts: answering },
  ]);
  expect(JSON.stringify(asked.map(contentOf))).not.toContain("planted");
});

test("records of an image that it is there, not its bytes", async () => {
  const state = ["a photo", image(onePixel)];
  const spans = await spansOf([Response.json(gatewayBody)], { recordContent: true }, state);
  const attribute = spans.at(-1)?.attributes["input.value"];
  expect(JSON.parse(String(attribute))).toMatchObject({ state: ["a photo", ""] });
});

test("takes the global tracer by default, which does nothing without an SDK", async () => {
  expect(trace.getTracerProvider()).toBeDefined();
  const fetch = async () => Response.json(gatewayBody);
  const transport = gatewayTransport({ apiKey: "a-key", fetch });
  const evaluator = createEvaluator({ transport, tracing: openTelemetryTracing() });
  expect(await evaluator.evaluate(emailRequest)).toMatchObject({ answers: gatewayBody.answers });
});

function contentOf({ name, attributes, events, status }: ReadableSpan) {
  return { name, attributes, events, status };
}

test("attempts have the dates of the given clock", async () => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const clock = new ManualClock();
  const tracing = openTelemetryTracing({ tracer: provider.getTracer("test") }, { clock });
  const fetch = async () => Response.json(gatewayBody);
  const transport = gatewayTransport({ apiKey: "a-key", fetch });
  await createEvaluator({ transport, tracing }, { clock }).evaluate(emailRequest);
  const [attempt] = exporter.getFinishedSpans();
  expect(attempt?.endTime).toEqual([clock.epochNow() / 1000, 0]);
});

test.each<[system: string, transport: Transport]>([
  ["typesafe", directTransport({ ...server, service: "perplexity" })],
  ["openai", directTransport({ ...server, service: "openai" })],
  ["openai", directTransport({ ...server, wire: "decisions" })],
  ["openai", logprobsTransport(server)],
  ["google", directTransport({ ...server, service: "gemini" })],
  ["google", directTransport({ ...server, wire: "gemini" })],
])("the system of a decision is %s by the form that is spoken", async (system, transport) => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const tracing = openTelemetryTracing({ tracer: provider.getTracer("test") });
  const asked = createEvaluator({ transport, tracing }).evaluate(emailRequest, { maxRetries: 0 });
  await expect(asked).rejects.toThrow(/answered 400/);
  expect(exporter.getFinishedSpans().at(-1)?.attributes["decision.system"]).toBe(system);
});
