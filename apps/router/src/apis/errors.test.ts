import { ConnectionError, EvaluatorError, TimeoutError } from "evaluator-client";
import { Hono } from "hono";
import { expect, test } from "vitest";
import { redactor } from "../reply/redactor.ts";
import { plantedKey } from "../testing/keep-output.ts";
import { testRouter } from "../testing/test-router.ts";
import type { ClientEnv } from "../routes/client-request.ts";
import { addFailureRoutes } from "./errors.ts";

const secretText = "my secret plan for the moon";

function httpError(status: number, error: object, headers: Record<string, string> = {}) {
  return { evaluation: () => Response.json({ error }, { status, headers }) };
}

const rateLimit = { message: "Free tier requests are rate-limited.", type: "rate_limit_exceeded" };
const failures = [
  ["a rate limit", httpError(429, rateLimit, { "retry-after": "7" }), 429, "7"],
  [
    "a rate limit in milliseconds",
    httpError(429, rateLimit, { "retry-after-ms": "1200" }),
    429,
    "2",
  ],
  ["a rate limit without a wait", httpError(429, rateLimit), 429, null],
  ["a rejected key", httpError(401, { message: "no", type: "authentication_error" }), 502, null],
  ["a forbidden model", httpError(403, { message: "no", type: "forbidden" }), 502, null],
  ["an unknown model", httpError(404, { message: "no", type: "model_not_found" }), 502, null],
  ["a broken service", httpError(500, { message: "no", type: "internal_server_error" }), 502, null],
  ["an answer that breaks the contract", { evaluation: () => Response.json({}) }, 502, null],
  ["an answer that is not JSON", { evaluation: () => new Response("<h1>") }, 502, null],
] as const;

test.each(failures)("%s gives { error } and a fitting status", async (...row) => {
  const [, differences, status, retryAfter] = row;
  const { chat, seen } = await testRouter(differences);
  const response = await chat({ message: secretText });
  expect(response.status).toBe(status);
  expect(response.headers.get("retry-after")).toBe(retryAfter);
  const body = await response.json();
  expect(body).toEqual({ error: expect.stringMatching(/\S/) });
  expect(seen).toHaveLength(1);
});

test("says that the key was rejected, and by whom", async () => {
  const { chat } = await testRouter(
    httpError(401, { message: "no", type: "authentication_error" }),
  );
  expect(await (await chat({ message: "hi" })).json()).toEqual({
    error: expect.stringMatching(/^The evaluation service refused this router's key\. /),
  });
});

test("repeats neither the key nor the message that the service echoes", async () => {
  const echo = { message: `Bearer ${plantedKey}: ${secretText}`, type: "invalid_request_error" };
  const { chat } = await testRouter(httpError(400, echo));
  const text = await (await chat({ message: secretText })).text();
  expect(text).not.toContain(plantedKey);
  expect(text).not.toContain(secretText);
});

function appThatThrows(error: Error) {
  const defects: Error[] = [];
  const app = new Hono<ClientEnv>();
  app.use((c, next) => {
    c.set("clientSignal", c.req.raw.signal);
    return next();
  });
  const redact = redactor([plantedKey]);
  addFailureRoutes(app, { redact, reportDefect: (defect) => defects.push(defect) });
  app.get("/", () => {
    throw error;
  });
  return { app, defects };
}

test("an unexpected error is reported, and answered without its message", async () => {
  const { app, defects } = appThatThrows(new RangeError(secretText));
  const response = await app.request("/");
  expect(response.status).toBe(500);
  expect(await response.json()).toEqual({ error: "The router failed; its console shows where." });
  expect(defects).toEqual([new RangeError(secretText)]);
});

test("a client that went away is no defect, and is answered nothing", async () => {
  const { app, defects } = appThatThrows(new Error("aborted"));
  const response = await app.request("/", { signal: AbortSignal.abort() });
  expect({ status: response.status, text: await response.text(), defects }).toEqual({
    status: 499,
    text: "",
    defects: [],
  });
});

test("a key in an evaluation's error is taken out", async () => {
  const { app } = appThatThrows(new EvaluatorError(`Bearer ${plantedKey}`));
  expect(await (await app.request("/")).json()).toEqual({ error: "Bearer [secret]" });
});

async function answerTo(error: Error) {
  const response = await appThatThrows(error).app.request("/");
  const { error: message } = (await response.json()) as { error: string };
  return { message, status: response.status, retry: response.headers.get("x-should-retry") };
}

test("a passed time limit is a 504", async () => {
  const limit = { timeoutMs: 5, limit: "deadline", maybeBilled: true } as const;
  const answer = await answerTo(new TimeoutError("No whole response arrived.", limit));
  expect(answer).toEqual({ status: 504, message: "No whole response arrived.", retry: "false" });
});

test("any other lost connection is a 502", async () => {
  const error = new ConnectionError("Could not connect.", { maybeBilled: false });
  expect(await answerTo(error)).toMatchObject({ status: 502, message: "Could not connect." });
});
