import { describe, expect, test } from "vitest";
import { ConnectionError } from "../errors.ts";
import type { Fetch } from "../http/http-client.ts";
import {
  privateFailure,
  privateHeader,
  privateKey,
  privateRequest,
  secretWords,
  shownTexts,
} from "../testing/private-call.ts";
import { directTransport } from "../transports/direct/direct-transport.ts";
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
const transports = { gateway: gatewayTransport, direct: directTransport };

function failureOver(name: keyof typeof transports, fetch: Fetch) {
  const headers = { "x-tenant": privateHeader };
  return privateFailure(transports[name]({ apiKey: privateKey, headers, env: {}, fetch }));
}

// The calls themselves check that no secret shows.
describe.each(secrets)("%s", (_, secret) => {
  test.each<[keyof typeof transports, unknown]>([
    ["gateway", { error: { message: `Refused: ${secret}`, type: secret } }],
    [
      "gateway",
      { error: { message: "Refused.", type: secret, param: secret }, generationId: secret },
    ],
    ["gateway", { error: secret, message: secret }],
    ["direct", { detail: `Refused: ${secret}` }],
    ["direct", { detail: { error_type: secret, message: `Refused: ${secret}` } }],
    ["direct", { detail: [{ loc: ["body", secret], msg: "Refused.", input: secret }] }],
    ["direct", secret],
  ])("is not in the error when the %s answers 403 %j", async (name, body) => {
    const error = await failureOver(name, async () => Response.json(body, { status: 403 }));
    expect(error).toMatchObject({ name: "AuthenticationError", status: 403, attempts: 1 });
    expect(error.message).toContain("answered 403");
  });

  test.each<[keyof typeof transports, unknown]>([
    ["gateway", { [secret]: secret, answers: secret }],
    ["gateway", secret],
    ["direct", { answers: { [secret]: secret }, usage: {} }],
    ["direct", { answers: {}, usage: secret }],
    ["direct", [secret]],
  ])("is not in the error when the %s answers 200 %j", async (name, body) => {
    const error = await failureOver(name, async () => Response.json(body));
    expect(error).toMatchObject({ name: "InvalidResponseError", rule: "body-shape", attempts: 1 });
  });

  test("is not in the error when fetch throws it", async () => {
    const thrown = new Error(`Cannot send ${secret}`, { cause: { secret } });
    const error = await failureOver("gateway", () => Promise.reject(thrown));
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

test("a server's own words are shown when they repeat nothing", async () => {
  const body = { error: { message: "The model is asleep.", type: "forbidden" } };
  const error = await failureOver("gateway", async () => Response.json(body, { status: 403 }));
  expect(error).toMatchObject({ type: "forbidden" });
  expect(error.message).toContain('"The model is asleep."');
});
