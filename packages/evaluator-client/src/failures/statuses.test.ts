import { describe, expect, test } from "vitest";
import { findEvaluation } from "../testing/evaluate-recorded.ts";
import {
  everyWayAndServer,
  gatewaysAndServers,
  privateFailure,
  privateKey,
  privateRequest,
} from "../testing/private-call.ts";
import { httpResponse } from "../testing/socket-server.ts";

interface Row {
  status: number;
  headers?: Record<string, string>;
  name: string;
  isRetryable: boolean;
  fields?: object;
}

const final = (status: number, name = "StatusError", rest: Partial<Row> = {}): Row => {
  return { status, name, isRetryable: false, ...rest };
};
const retried = (status: number, name = "StatusError", rest: Partial<Row> = {}): Row => {
  return { status, name, isRetryable: true, ...rest };
};
const no = { headers: { "x-should-retry": "false" } };
const yes = { headers: { "x-should-retry": "true" } };
const now = { headers: { "retry-after": "0" }, fields: { retryAfterMs: 0 } };

const rows: Row[] = [
  final(429, "RateLimitError", no),
  final(500, "StatusError", no),
  final(401, "AuthenticationError"),
  final(403, "AuthenticationError"),
  final(402, "StatusError", { fields: { needsPaidCredits: true } }),
  ...[400, 404, 409, 413, 422, 424, 451, 499].map((status) => final(status)),
  final(400, "StatusError", yes),
  ...[501, 505, 507, 519, 528].map((status) => final(status)),
  ...[300, 301, 302, 303, 304, 307, 308].map((status) => final(status)),
  retried(429, "RateLimitError"),
  retried(429, "RateLimitError", now),
  retried(529, "RateLimitError"),
  ...[408, 425, 500, 502, 503, 504].map((status) => retried(status)),
  ...[520, 521, 522, 523, 524, 525, 526, 527].map((status) => retried(status)),
  retried(409, "StatusError", yes),
];

/** What each service says, repeating the key and the state as no good service does. */
const bodies = {
  gateway: {
    error: { message: `No: ${privateKey}`, type: privateKey },
    state: privateRequest.state,
  },
  logprobs: { error: { message: `No: ${privateRequest.state.subject}`, type: privateKey } },
  direct: { detail: [{ loc: ["body"], msg: privateRequest.state.subject, input: privateKey }] },
};

describe.each(everyWayAndServer)("%s", (way, transportTo, listen) => {
  const service = way.split(" ")[0] as keyof typeof bodies;

  test.each(rows)("$status ($headers): $name, retried: $isRetryable", async (row) => {
    const { status, headers, name, isRetryable, fields } = row;
    const attempts = isRetryable ? 3 : 1;
    const body = status === 304 ? "" : JSON.stringify(bodies[service]);
    const response = httpResponse(status, body, { ...headers, "x-request-id": "request-1" });
    await using server = await listen((socket) => socket.write(response));
    const error = await privateFailure(transportTo(server.origin));
    const isGatewayLimit = service === "gateway" && status === 429;
    expect(error).toMatchObject({
      name: isGatewayLimit ? "GatewayRateLimitError" : name,
      status,
      isRetryable,
      attempts,
      type: null,
      requestId: "request-1",
      generationId: null,
      retryAfterMs: null,
      needsPaidCredits: false,
      ...fields,
    });
    expect(error.message).toContain(`answered ${status}`);
    expect(server.requests).toHaveLength(attempts);
  });
});

describe.each(gatewaysAndServers)("%s", (_, transportTo, listen) => {
  test.each([
    ["free-tier-rate-limited", "GatewayRateLimitError", 3],
    ["free-tier-no-access", "GatewayRateLimitError", 1],
  ])("%s is a %s that paid credits remove", async (situation, name, attempts) => {
    const { status, body } = findEvaluation(`gateway/${situation}`).response;
    const response = httpResponse(status, JSON.stringify(body));
    await using server = await listen((socket) => socket.write(response));
    const error = await privateFailure(transportTo(server.origin));
    expect(error).toMatchObject({ name, status, attempts, needsPaidCredits: true });
    expect(server.requests).toHaveLength(attempts);
  });
});
