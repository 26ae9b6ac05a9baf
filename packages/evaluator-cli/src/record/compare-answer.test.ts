import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { createEmulator } from "evaluator-emulator";
import { expect, test } from "vitest";
import { liveService } from "../testing/live-service.ts";
import { exchangesFolder, startRecord, testKeys } from "../testing/record.ts";

function compare(words: readonly string[], given: Parameters<typeof startRecord>[1] = {}) {
  return startRecord(["--compare", ...words], given);
}

const gateway = "gateway/greeting-routes-to-nano";
const direct = "direct/three-question-types";

test("a service that answers as the exchanges do has the same shapes", async () => {
  const outcome = await compare([]);
  expect(outcome).toEqual({
    exitCode: 0,
    stdout: "Compared 30 of 30: the shapes agree\n",
    stderr: "",
  });
});

test("other values are no difference: the judge's answers have the shape of recorded ones", async () => {
  const { fetch } = createEmulator({ exchanges: [] });
  const { exitCode, stdout } = await compare([], { fetch });
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: "Compared 30 of 30: the shapes agree\n",
  });
});

test.each<[string, string, Parameters<typeof liveService>[0]]>([
  [
    "an extra field",
    "new      response.body.usage.cachedTokens (number)",
    ({ body }) => (body.usage.cachedTokens = 7),
  ],
  [
    "a missing field",
    "missing  response.body.providerMetadata.gateway.routing.finalProvider (string)",
    ({ body }) => delete body.providerMetadata.gateway.routing.finalProvider,
  ],
  [
    "a number that became a string",
    "type     response.body.usage.inputTokens (number became string)",
    ({ body }) => (body.usage.inputTokens = "315"),
  ],
  [
    "a first warning",
    "new      response.body.warnings[] (object)",
    ({ body }) => (body.warnings = [{ message: "a private text" }]),
  ],
  [
    "a missing header",
    'missing  response.headers["content-type"] (string)',
    ({ headers }) => headers.delete("content-type"),
  ],
  [
    "a choice of an option nobody offered",
    "contract response.body.answers.tier (breaks the rule choice-option)",
    ({ body }) => (body.answers.tier.choice = "a private text"),
  ],
])("%s is a difference", async (_what, line, change) => {
  const fetch = liveService(change);
  const outcome = await compare([gateway], { fetch });
  expect(outcome).toEqual({
    exitCode: 1,
    stdout: `${line}\n         in ${gateway}\nCompared 1 of 1: the shapes differ\n`,
    stderr: "",
  });
});

test("a difference of many exchanges is printed once", async () => {
  const fetch = liveService(({ body }) => (body.extra = true));
  const { stdout } = await compare([gateway, direct], { fetch });
  expect(stdout).toBe(
    `new      response.body.extra (boolean)\n         in ${gateway} and 1 more\n` +
      "Compared 2 of 2: the shapes differ\n",
  );
});

test("an answer like another exchange's for the same request is no difference", async () => {
  const { exitCode } = await compare(["gateway/credits-read-as-numbers"]);
  expect(exitCode).toBe(0);
});

test("headers the exchange does not list do not count", async () => {
  const fetch = liveService(({ headers }) => headers.set("retry-after", "1"));
  expect((await compare([gateway], { fetch })).exitCode).toBe(0);
});

test("a field whose name looks like a secret is not shown", async () => {
  const name = ["s", "k-abcdefghijklmnop"].join("");
  const fetch = liveService(({ body }) => (body.usage[name] = "a value"));
  const { exitCode, stdout } = await compare([gateway], { fetch });
  expect(exitCode).toBe(1);
  expect(stdout).toContain('new      response.body.usage["…"] (string)\n');
});

test.each<[string, string, Parameters<typeof liveService>[0]]>([
  ["an error", "it answered 503, not 200", (answer) => (answer.status = 503)],
  ["a cut body", "its body is not JSON", (answer) => (answer.body = '{"answers":')],
  [
    "the key in a header",
    "its header x-debug holds the key verbatim",
    ({ headers }) => headers.set("x-debug", testKeys.gateway),
  ],
  [
    "the key in the name of a field",
    "its body holds the key verbatim",
    ({ body }) => (body[testKeys.gateway] = 1),
  ],
])("an answer with %s is not compared, and the exit code is 2", async (_what, reason, change) => {
  const fetch = liveService((answer, request) => {
    if (request.headers.has("ai-model-id")) change?.(answer, request);
  });
  const outcome = await compare([gateway, direct], { fetch });
  expect(outcome).toEqual({
    exitCode: 2,
    stdout: "Compared 1 of 2: the shapes agree\n",
    stderr: `${gateway}: not compared: ${reason}\n`,
  });
});

test("a difference counts more than an answer that did not come", async () => {
  const fetch = liveService((answer, request) => {
    if (request.headers.has("ai-model-id")) answer.status = 503;
    else answer.body.extra = true;
  });
  expect((await compare([gateway, direct], { fetch })).exitCode).toBe(1);
});

test("an interruption ends with 130", async () => {
  const interruption = new AbortController();
  const fetch = liveService((_answer, request) => {
    interruption.abort();
    request.signal.throwIfAborted();
  });
  const { signal } = interruption;
  const outcome = await compare([gateway], { fetch, signal });
  expect(outcome).toEqual({ exitCode: 130, stdout: "", stderr: "Interrupted.\n" });
});

test.each<[string, string[], Parameters<typeof startRecord>[1], string]>([
  ["without a key", [], { env: {} }, "Set AI_GATEWAY_API_KEY or EVALUATOR_DIRECT_API_KEY"],
  [
    "with a name nobody knows",
    ["gateway/unknown"],
    {},
    'There is no exchange "gateway/unknown"; there are gateway/',
  ],
])("%s nothing is asked and the exit code is 1", async (_when, argv, given, message) => {
  let requests = 0;
  const fetch = liveService(() => (requests += 1));
  const { exitCode, stdout, stderr } = await compare(argv, { fetch, ...given });
  expect({ exitCode, stdout, requests }).toEqual({ exitCode: 1, stdout: "", requests: 0 });
  expect(stderr).toContain(message);
});

const help = "For its options: evaluator-cli record --help\n";

test.each([
  [["--fast"], `Unknown option '--fast'.\n${help}`],
  [["--out", "x"], `Option '--compare' cannot be used with option '--out <dir>'.\n${help}`],
])("the words %j ask nothing and end with 1", async (words, message) => {
  let requests = 0;
  const fetch = liveService(() => (requests += 1));
  const { exitCode, stdout, stderr } = await compare(words, { fetch });
  expect({ exitCode, stdout, requests }).toEqual({ exitCode: 1, stdout: "", requests: 0 });
  expect(stderr).toBe(message);
});

test("an exchange that does not load is named, and nothing is asked", async () => {
  const folder = join(await temporaryFolder(), "exchanges");
  await cp(exchangesFolder, folder, { recursive: true });
  await writeFile(join(folder, "gateway", "cut.json"), "{");
  const { exitCode, stderr } = await compare([], { exchangesFolder: folder });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("cut.json is not JSON. Name it with --exchanges.\n");
  const missing = await compare([], { exchangesFolder: join(folder, "none") });
  expect(missing.stderr).toMatch(/^Cannot read \S+none: no such file or directory\. Name it with/);
});
