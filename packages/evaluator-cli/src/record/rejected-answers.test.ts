import { expect, test } from "vitest";
import { liveService } from "../testing/live-service.ts";
import { recordInto, testKeys } from "../testing/record.ts";

const gateway = "gateway/greeting-routes-to-nano";
const direct = "direct/three-question-types";

const base64Key = Buffer.from(`user:${testKeys.gateway}`).toString("base64");
test.each<[string, string, Parameters<typeof liveService>[0]]>([
  [
    "the key in a header that would be kept",
    "its header x-request-id holds the key verbatim",
    ({ headers }) => headers.set("x-request-id", testKeys.gateway),
  ],
  [
    "the key in a header that would be dropped",
    "its header x-debug holds the key verbatim",
    ({ headers }) => headers.set("x-debug", `Bearer ${testKeys.gateway}`),
  ],
  [
    "the key in one of its cookies",
    "its header set-cookie holds the key verbatim",
    ({ headers }) => {
      headers.append("set-cookie", `session=${testKeys.gateway}`);
      headers.append("set-cookie", "theme=dark");
    },
  ],
  [
    "the key in the name of a header",
    "the name of a header holds the key verbatim",
    ({ headers }) => headers.set(`x-${testKeys.gateway}`, "1"),
  ],
  [
    "the key in its body",
    "its body holds the key verbatim",
    ({ body }) => (body.warnings = [{ echo: testKeys.gateway }]),
  ],
  [
    "the key in the name of a field",
    "its body holds the key verbatim",
    ({ body }) => (body[testKeys.gateway] = 1),
  ],
  [
    "the key in a URL in its body",
    "its body holds the key verbatim",
    ({ body }) => {
      const escaped = testKeys.gateway.replaceAll("-", "%2D");
      body.next = `https://example.com/?key=${escaped}`;
    },
  ],
  [
    "the key encoded",
    "its body holds the key in base64",
    ({ body }) => (body.debug = `Basic ${base64Key}`),
  ],
  [
    "a part of the key",
    "its body holds a part of the key verbatim",
    ({ body }) => (body.debug = `${testKeys.gateway.slice(0, 9)}…`),
  ],
  [
    "the other transport's key",
    "its body holds the key verbatim",
    ({ body }) => (body.debug = testKeys.direct),
  ],
  [
    "the key in an error",
    "its body holds the key verbatim",
    (answer) => Object.assign(answer, { status: 401, body: `wrong key ${testKeys.gateway}` }),
  ],
  [
    "somebody's key",
    "it holds a prefixed key in response.body.debug",
    ({ body }) => (body.debug = ["s", "k-abcdefghijklmnop"].join("")),
  ],
  [
    "a session in a header that would be kept",
    'it holds a bearer value in response.headers["retry-after"]',
    ({ headers }) => headers.set("retry-after", ["Bear", "er abcdefghijkl"].join("")),
  ],
  [
    "somebody's address",
    "it holds an address outside the reserved domains in response.body.warnings[]",
    ({ body }) => (body.warnings = [["someone@", "mail.com"].join("")]),
  ],
])("a response with %s is not written, is named and is not shown", async (_what, reason, leak) => {
  const leaky = liveService((answer, request) => {
    if (request.headers.has("ai-model-id")) leak?.(answer, request);
  });
  const { exitCode, stdout, stderr, written } = await recordInto([gateway, direct], {
    fetch: leaky,
  });
  expect(exitCode).toBe(2);
  expect(stderr).toBe(`${gateway}: not recorded: ${reason}\n`);
  expect(stdout).toContain("Recorded 1 of 2 in ");
  expect(written).toEqual(["three-question-types.json"]);
  for (const printed of [stdout, stderr]) {
    expect(printed).not.toContain(testKeys.gateway);
    expect(printed).not.toContain(base64Key);
  }
});

test.each<[string, string, Parameters<typeof liveService>[0]]>([
  ["an error", "it answered 429, not 200", (answer) => (answer.status = 429)],
  ["a conflict", "it answered 409, not 200", (answer) => (answer.status = 409)],
  ["a redirect", "it answered 302, not 200", (answer) => (answer.status = 302)],
  ["a page", "its body is not JSON", (answer) => (answer.body = "<html></html>")],
  ["nothing", "its body is not JSON", (answer) => (answer.body = "")],
  [
    "a missing answer",
    "response.body.answers.tier: breaks the rule answer-ids",
    ({ body }) => delete body.answers.tier,
  ],
  [
    "sums beyond rounding",
    "response.body.answers.tier: breaks the rule probabilities-sum",
    ({ body }) => (body.answers.tier.probabilities.nano = 0.5),
  ],
])("%s is reported and the rest goes on", async (_what, reason, change) => {
  const fetch = liveService((answer, request) => {
    if (request.headers.has("ai-model-id")) change?.(answer, request);
  });
  const { exitCode, stderr, written } = await recordInto([gateway, direct], { fetch });
  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr: `${gateway}: not recorded: ${reason}\n`,
  });
  expect(written).toEqual(["three-question-types.json"]);
});

test("a word that the exchange and the key share is no leak", async () => {
  const env = { AI_GATEWAY_API_KEY: "key-of-typesafe-ai" };
  const { exitCode, written } = await recordInto([gateway], { env });
  expect({ exitCode, written }).toEqual({ exitCode: 0, written: ["greeting-routes-to-nano.json"] });
});

test.each(["marketCost", "generationId", "routing"])(
  "an answer of the gateway without %s is not recorded",
  async (name) => {
    const fetch = liveService(({ body }) => delete body.providerMetadata.gateway[name]);
    const { exitCode, stderr, written } = await recordInto([gateway], { fetch });
    expect({ exitCode, written }).toEqual({ exitCode: 2, written: [] });
    expect(stderr).toContain(
      `${gateway}: not recorded: response.body.providerMetadata.gateway.${name}: `,
    );
  },
);
