import { describe, expect, test } from "vitest";
import { ConnectionError } from "../errors.ts";
import {
  everyWayAndServer,
  gatewaysAndServers,
  privateFailure,
  privateHeader,
  privateKey,
  privateRequest,
  secretWords,
  shownTexts,
} from "../testing/private-call.ts";
import { httpResponse } from "../testing/socket-server.ts";
import { gatewayTransport } from "../transports/gateway/gateway-transport.ts";

const secrets: [string, string][] = [
  ["the key", privateKey],
  ["the key's last half", privateKey.slice(8)],
  ["the Authorization header", `Bearer ${privateKey}`],
  ["a header value", privateHeader],
  ["the state", JSON.stringify(privateRequest.state)],
  ["a value of the state", privateRequest.state.from],
  ["a part of the state", privateRequest.state.subject.slice(0, 26)],
];

/** Answers of each service to a refused call, and broken ones to a successful call. */
const answersOf = {
  gateway: (secret) => [
    [403, { error: { message: `Refused: ${secret}`, type: secret } }],
    [403, { error: { message: "Refused.", type: secret, param: secret }, generationId: secret }],
    [403, { error: secret, message: secret }],
    [200, { [secret]: secret, answers: secret }],
    [200, secret],
  ],
  direct: (secret) => [
    [403, { detail: `Refused: ${secret}` }],
    [403, { detail: { error_type: secret, message: `Refused: ${secret}` } }],
    [403, { detail: [{ loc: ["body", secret], msg: "Refused.", input: secret }] }],
    [403, secret],
    [200, { answers: { [secret]: secret }, usage: {} }],
    [200, { answers: {}, usage: secret }],
    [200, [secret]],
  ],
  logprobs: (secret) => [
    [403, { error: { message: `Refused: ${secret}`, type: secret, param: secret, code: secret } }],
    [403, { object: "error", message: secret, type: secret }],
    [403, secret],
  ],
} satisfies Record<string, (secret: string) => [status: number, body: unknown][]>;
const errorOf: Record<number, object> = {
  200: { name: "InvalidResponseError", rule: "body-shape" },
  403: {
    name: "AuthenticationError",
    status: 403,
    message: expect.stringContaining("answered 403"),
  },
};

// The calls themselves check that no secret shows.
describe.each(everyWayAndServer)("%s", (way, transportTo, listen) => {
  const toAnswers = answersOf[way.split(" ")[0] as keyof typeof answersOf];
  const answers = secrets.flatMap(([name, secret]) =>
    toAnswers(secret).map(([status, body]) => ({ name, status, body })),
  );
  test.each(answers)("$name is not in the error after $status $body", async ({ status, body }) => {
    await using server = await listen((socket) =>
      socket.write(httpResponse(status, JSON.stringify(body))),
    );
    const error = await privateFailure(transportTo(server.origin));
    expect(error).toMatchObject({ ...errorOf[status], attempts: 1 });
  });
});

describe.each(secrets)("%s", (_, secret) => {
  test("is not in the error when fetch throws it", async () => {
    const thrown = new Error(`Cannot send ${secret}`, { cause: { secret } });
    const fetch = () => Promise.reject(thrown);
    const error = await privateFailure(gatewayTransport({ apiKey: privateKey, env: {}, fetch }));
    expect(error).toMatchObject({ name: "ConnectionError", isRetryable: false, attempts: 1 });
  });

  test("would be seen wherever an error held it", () => {
    const details = { isRetryable: false, maybeBilled: true };
    const hidden = Object.defineProperty(new Error("x"), "request", { value: { secret } });
    for (const error of [
      new ConnectionError(secret, details),
      new ConnectionError("x", { ...details, cause: new Error("y", { cause: new Error(secret) }) }),
      new ConnectionError("x", { ...details, cause: { deep: [[[[[secret]]]]] } }),
      Object.assign(new Error("x"), { request: { headers: { secret } } }),
      hidden,
    ]) {
      expect(shownTexts(error)).toMatch(secretWords);
    }
  });
});

test.each(gatewaysAndServers)(
  "%s: a server's own words are shown when they repeat nothing",
  async (_, transportTo, listen) => {
    const body = '{"error":{"message":"The model is asleep.","type":"forbidden"}}';
    await using server = await listen((socket) => socket.write(httpResponse(403, body)));
    const error = await privateFailure(transportTo(server.origin));
    expect(error).toMatchObject({ type: "forbidden" });
    expect(error.message).toContain('"The model is asleep."');
  },
);
