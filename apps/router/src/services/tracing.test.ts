import { createEmulator } from "evaluator-emulator";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { tierNames } from "../decision/tier-question.ts";
import { plantedKey } from "../testing/keep-output.ts";
import { startRouterHere } from "../testing/start-program.ts";
import { testRouter } from "../testing/test-router.ts";
import { startUpstream } from "../testing/upstreams.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;

const spanSchema = z.object({
  name: z.string(),
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  attributes: z.array(z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) })),
});
const exportSchema = z.object({
  resourceSpans: z.array(
    z.object({ scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })) }),
  ),
});

/** A collector of traces; returns the bodies that it was sent. */
async function startCollector() {
  const bodies: string[] = [];
  const types: (string | undefined)[] = [];
  const origin = await startUpstream((request, response) => {
    types.push(request.headers["content-type"]);
    let text = "";
    request.on("data", (chunk) => (text += String(chunk)));
    request.on("end", () => {
      bodies.push(text);
      response.setHeader("content-type", request.headers["content-type"] ?? "").end();
    });
  });
  return { origin, bodies, types };
}

/** Returns the spans in the bodies of a collector. */
function spansIn(bodies: readonly string[]) {
  return bodies
    .flatMap((body) => exportSchema.parse(JSON.parse(body)).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

/** Returns the attributes of the span of a reply. */
function replyAttributes(bodies: readonly string[]) {
  const reply = spansIn(bodies).find(({ name }) => name.startsWith("chat "));
  const attributes = reply?.attributes.map(({ key, value }) => [key, Object.values(value)[0]]);
  return Object.fromEntries(attributes ?? []) as Record<string, unknown>;
}

test("a message's decision and reply are spans of its caller's trace, with no text in them", async () => {
  const { origin, bodies } = await startCollector();
  const emulator = createEmulator();
  onTestFinished(() => emulator.close());
  const { gatewayBaseUrl } = await emulator.listen();
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", origin); // OpenTelemetry reads it itself
  const {
    interrupt,
    ended,
    origin: router,
  } = startRouterHere({
    PORT: "0",
    AI_GATEWAY_API_KEY: plantedKey,
    EVALUATOR_BASE_URL: gatewayBaseUrl,
    OTEL_EXPORTER_OTLP_ENDPOINT: origin,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  });
  const response = await fetch(`${await router}/chat`, {
    method: "POST",
    headers: { "content-type": "application/json", traceparent, "x-request-id": "my-request" },
    body: JSON.stringify({ message: "a text nobody should see" }),
  });
  expect(response.status).toBe(200);
  interrupt();
  await ended;
  const exported = bodies.join("\n");
  expect(exported).not.toMatch(new RegExp(`nobody should see|${plantedKey}`));
  expect(exported).toContain("my-request");
  expect(exported).toContain("evaluator-router");
  expect(exported).toContain("openinference.span.kind");
  const spans = spansIn(bodies);
  expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
  const request = spans.find(({ name }) => name === "POST /chat");
  expect(request?.parentSpanId).toBe("b7ad6b7169203331");
  const children = spans.filter(({ parentSpanId }) => parentSpanId === request?.spanId);
  expect(children.map(({ name }) => name.split(" ")[0])).toEqual(
    expect.arrayContaining(["evaluate", "chat"]),
  );
  expect(replyAttributes(bodies)).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "gateway",
    "gen_ai.usage.cache_read.input_tokens": 0,
  });
});

test("the span of a failed reply has its service and the status", async () => {
  const { origin, bodies } = await startCollector();
  const upstream = await startUpstream((_, response) => response.writeHead(401).end("{}"));
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", origin);
  const router = startRouterHere({
    PORT: "0",
    ROUTER_REPLY_BASE_URL: upstream,
    ...Object.fromEntries(tierNames.map((tier) => [`ROUTER_MODEL_${tier.toUpperCase()}`, "m"])),
    OTEL_EXPORTER_OTLP_ENDPOINT: origin,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  });
  const init = { method: "POST", headers: { "content-type": "application/json" } };
  await fetch(`${await router.origin}/chat`, { ...init, body: '{"message":"hi"}' });
  router.interrupt();
  await router.ended;
  expect(replyAttributes(bodies)).toMatchObject({
    "gen_ai.provider.name": "reply-server",
    "error.type": "401",
  });
});

test.each(["on", "off"])(
  "spans of clients' questions have texts only with ROUTER_LOG_TEXT, here %s",
  async (logText) => {
    const { origin, bodies } = await startCollector();
    const emulator = createEmulator({ exchanges: [] });
    onTestFinished(() => emulator.close());
    const { gatewayBaseUrl } = await emulator.listen();
    vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", origin);
    const router = startRouterHere({
      PORT: "0",
      AI_GATEWAY_API_KEY: plantedKey,
      EVALUATOR_BASE_URL: gatewayBaseUrl,
      OTEL_EXPORTER_OTLP_ENDPOINT: origin,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      ROUTER_LOG_TEXT: logText,
    });
    const ask = async (path: string, body: object) => {
      const headers = { "content-type": "application/json" };
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      expect((await fetch(`${await router.origin}${path}`, init)).status).toBe(200);
    };
    const questions = { scam: { type: "noul", instructions: "Is it a scam?" } };
    await ask("/v1/systemone", { state: "a state of a client", questions });
    await ask("/chat", { message: "a message of a person" });
    router.interrupt();
    await router.ended;
    const exported = bodies.join("\n");
    expect(exported.includes("a state of a client")).toBe(logText === "on");
    expect(exported.includes("input.value")).toBe(logText === "on");
    expect(exported).not.toContain("a message of a person");
  },
);

test.each([
  [{}, "application/x-protobuf"],
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" }, "application/json"],
  [
    {
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/protobuf",
    },
    "application/x-protobuf",
  ],
])("a collector gets traces in the form of OpenTelemetry's variables: %o", async (form, type) => {
  const { origin: OTEL_EXPORTER_OTLP_ENDPOINT, types } = await startCollector();
  const collector = { OTEL_EXPORTER_OTLP_ENDPOINT };
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", OTEL_EXPORTER_OTLP_ENDPOINT);
  const { interrupt, ended, origin } = startRouterHere({ PORT: "0", ...collector, ...form });
  const init = { method: "POST", headers: { "content-type": "application/json" } };
  const response = await fetch(`${await origin}/chat`, { ...init, body: '{"message":"hi"}' });
  expect(response.status).toBe(200);
  interrupt();
  await ended;
  expect(types).toEqual([type]);
});

test("a collector that is gone stops no message, and no end", async () => {
  const collector = {
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
    OTEL_EXPORTER_OTLP_TIMEOUT: "200",
  };
  for (const [name, value] of Object.entries(collector)) vi.stubEnv(name, value);
  const { interrupt, ended, origin } = startRouterHere({ PORT: "0", ...collector });
  const response = await fetch(`${await origin}/chat`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"message":"hi"}',
  });
  expect(response.status).toBe(200);
  interrupt();
  expect(await ended).toMatchObject({ code: 0, stderr: "" });
});

test("without traces of its own, the caller's trace and the request's id still reach the gateway", async () => {
  const seen: (string | null)[] = [];
  const reply = ({ headers }: Request) => {
    seen.push(headers.get("traceparent"), headers.get("x-request-id"));
    return Response.json({
      content: [{ type: "text", text: "Hello" }],
      finishReason: { unified: "stop" },
      usage: { inputTokens: {}, outputTokens: {} },
      warnings: [],
    });
  };
  const { request } = await testRouter({ reply });
  const body = JSON.stringify({ model: "nano", messages: [{ role: "user", content: "hi" }] });
  const complete = async (own: Record<string, string>) => {
    const headers = { "content-type": "application/json", ...own };
    const response = await request("/v1/chat/completions", { method: "POST", headers, body });
    expect(response.status).toBe(200);
  };
  await complete({ traceparent, "x-request-id": "my-request" });
  await complete({ traceparent: "x".repeat(55), "x-request-id": "another" });
  expect(seen).toEqual([traceparent, "my-request", null, "another"]);
});

test("the caller's trace and the request's id reach the service that decides, too", async () => {
  const seen: (string | null)[] = [];
  const evaluation = ({ headers }: Request) => {
    seen.push(headers.get("traceparent"), headers.get("x-request-id"));
    return Response.json({ error: { message: "Not today." } }, { status: 400 });
  };
  const { request } = await testRouter({ evaluation });
  const headers = { "content-type": "application/json", traceparent, "x-request-id": "my-request" };
  await request("/decide", { method: "POST", headers, body: '{"message":"hi"}' });
  expect(seen).toEqual([traceparent, "my-request"]);
});
