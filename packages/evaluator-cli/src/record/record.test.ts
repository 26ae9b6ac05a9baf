import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { createEmulator } from "evaluator-emulator";
import { loadFixtures } from "evaluator-client/replay-exchanges";
import { type Exchange, findSecrets, loadExchanges } from "evaluator-client/testing";
import { expect, test } from "vitest";
import { liveService } from "../testing/live-service.ts";
import { exchangesFolder, recordInto, startRecord, testKeys } from "../testing/record.ts";

const gateway = "gateway/greeting-routes-to-nano";
const direct = "direct/three-question-types";

async function copyOfExchanges(): Promise<string> {
  const folder = join(await temporaryFolder(), "exchanges");
  await cp(exchangesFolder, folder, { recursive: true });
  return folder;
}

function originalOf(name: string): Exchange {
  const exchange = loadFixtures().find((exchange) => exchange.name === name);
  if (exchange === undefined) throw new Error(`There is no ${name}.`);
  return exchange;
}

test("every successful evaluation is recorded, as files that load and hold no secret", async () => {
  const { exitCode, stdout, stderr, folder } = await recordInto([]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  const expected = loadFixtures().filter(
    ({ request, response }) => request.method === "POST" && response.status < 300,
  );
  const recorded = loadExchanges(folder);
  expect(recorded.map(({ name }) => name)).toEqual(expected.map(({ name }) => name));
  expect(recorded.map(({ request }) => request)).toEqual(expected.map(({ request }) => request));
  expect(new Set(recorded.map(({ provenance }) => provenance.source))).toEqual(new Set(["live"]));
  expect(findSecrets(JSON.stringify(recorded))).toEqual([]);
  expect(stdout).toContain(`Recorded 30 of 30 in ${folder}\n`);
});

test("a recording names its date, its model and what was answered", async () => {
  const { folder } = await recordInto([gateway, direct]);
  const [fromVendor, fromGateway] = loadExchanges(folder);
  expect(fromGateway).toMatchObject({
    description: "A live answer to: greeting routes to nano.",
    provenance: { source: "live", recordedAt: "2026-11-21", model: "typesafe-ai/jev" },
    response: {
      status: 200,
      body: { providerMetadata: { gateway: { generationId: "gen_recorded0001" } } },
    },
  });
  expect(fromVendor).toMatchObject({
    provenance: { source: "live", recordedAt: "2026-11-21", model: "jev-1.13.0" },
    response: { headers: { "x-typesafe-request-id": "req_recorded0001" } },
  });
  expect(fromVendor?.response.body).toEqual(originalOf(direct).response.body);
});

test("the request sent is the exchange's and the transport's own key", async () => {
  const sent: unknown[] = [];
  const fetch = liveService((_answer, request) => {
    const { url, headers } = request;
    sent.push([url, headers.get("authorization"), headers.get("ai-model-id"), request.redirect]);
  });
  await recordInto([gateway, direct], { fetch });
  expect(sent).toEqual([
    [
      "https://ai-gateway.vercel.sh/v4/ai/evaluation-model",
      `Bearer ${testKeys.gateway}`,
      "typesafe-ai/jev",
      "manual",
    ],
    ["https://api.typesafe.ai/v1/systemone", `Bearer ${testKeys.direct}`, null, "manual"],
  ]);
});

test("headers that are not on the list are dropped", async () => {
  const fetch = liveService(({ headers }) => {
    headers.set("set-cookie", "session=abc");
    headers.set("server", "example");
    headers.set("x-should-retry", "false");
  });
  const { folder, exitCode } = await recordInto([gateway], { fetch });
  expect(exitCode).toBe(0);
  const [recorded] = loadExchanges(folder);
  expect(Object.keys(recorded?.response.headers ?? {})).toEqual(["content-type", "x-should-retry"]);
});

test("an error that was asked for by name is recorded as what it is", async () => {
  const name = "direct/eleven-levels-refused";
  const { exitCode, folder } = await recordInto([name]);
  expect(exitCode).toBe(0);
  expect(loadExchanges(folder)[0]?.response.status).toBe(originalOf(name).response.status);
});

test("a request that would answer otherwise keeps its exchange's error", async () => {
  const { exitCode, stderr, written } = await recordInto(["gateway/rate-limited"]);
  expect({ exitCode, written }).toEqual({ exitCode: 2, written: [] });
  expect(stderr).toBe("gateway/rate-limited: not recorded: it answered 200, not 429\n");
});

test("exchanges written from the contract are replaced only when told to", async () => {
  const exchangesFolder = await copyOfExchanges();
  let requests = 0;
  const fetch = liveService(() => (requests += 1));
  const refused = await startRecord([gateway], { exchangesFolder, fetch });
  expect(refused).toEqual({
    exitCode: 1,
    stdout: "",
    stderr: expect.stringContaining(
      "1 of 1 files are no recordings; use --replace or another --out.",
    ),
  });
  expect(requests).toBe(0);

  const replaced = await startRecord([gateway, "--replace"], { exchangesFolder });
  expect(replaced).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining(`${gateway}: recorded\n`),
  });
  const again = await startRecord([gateway], { exchangesFolder });
  expect(again.exitCode).toBe(0);
});

test("a recording that is made again keeps its description", async () => {
  const folder = await copyOfExchanges();
  const path = join(folder, `${gateway}.json`);
  const recording = { ...JSON.parse(await readFile(path, "utf8")), description: "A greeting." };
  recording.provenance = { source: "live", recordedAt: "2026-01-01", model: "older" };
  await writeFile(path, JSON.stringify(recording));
  await startRecord([gateway], { exchangesFolder: folder });
  expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({
    description: "A greeting.",
    provenance: { recordedAt: "2026-11-21", model: "typesafe-ai/jev" },
  });
});

test("what the emulator says of itself is kept, and keeps it out of the exchanges", async () => {
  const { fetch } = createEmulator();
  const { exitCode, folder } = await recordInto([gateway], { fetch });
  expect(exitCode).toBe(0);
  const [recorded] = loadExchanges(folder);
  expect(recorded?.response.headers["x-evaluator-emulator"]).toBe("basis=recorded");

  const exchangesFolder = await copyOfExchanges();
  const argv = [gateway, "--replace"];
  const refused = await startRecord(argv, { exchangesFolder, fetch });
  expect(refused).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("the emulator answered; use another --out"),
  });
  expect(loadExchanges(exchangesFolder)).toEqual(loadFixtures());
});

test("no exchange of this package comes from the emulator", () => {
  const headers = loadFixtures().flatMap(({ response }) => Object.keys(response.headers));
  expect(headers).not.toContain("x-evaluator-emulator");
});

test.each<[string, string[], Parameters<typeof startRecord>[1], string]>([
  [
    "in CI",
    [gateway],
    { env: { CI: "true", AI_GATEWAY_API_KEY: "a" } },
    "Nothing is recorded in CI: a person must look at it.\n",
  ],
  ["without a key", [], { env: {} }, "Set AI_GATEWAY_API_KEY or EVALUATOR_DIRECT_API_KEY"],
  [
    "without the key needed",
    [direct],
    { env: { AI_GATEWAY_API_KEY: "a" } },
    "EVALUATOR_DIRECT_API_KEY",
  ],
  [
    "with a name nobody knows",
    ["gateway/unknown"],
    {},
    'There is no exchange "gateway/unknown"; there are gateway/',
  ],
  [
    "into a folder that cannot be",
    [gateway, "--replace", "--out", "/dev/null/x"],
    {},
    "Nothing can be written",
  ],
  ["from exchanges that do not load", [], { exchangesFolder: "/dev/null/x" }, "/dev/null/x"],
])("%s nothing is asked and the exit code is 1", async (_when, argv, given, message) => {
  let requests = 0;
  const fetch = liveService(() => (requests += 1));
  const { exitCode, stdout, stderr } = await startRecord(argv, { fetch, ...given });
  expect({ exitCode, stdout, requests }).toEqual({ exitCode: 1, stdout: "", requests: 0 });
  expect(stderr).toContain(message);
});

test.each([
  ["with a flag nobody knows", ["--fast"], "Unknown option '--fast'"],
  ["with an empty folder name", ["--out", ""], "--out takes a folder"],
])("%s nothing is asked and the exit code is 1", async (_when, argv, message) => {
  let requests = 0;
  const fetch = liveService(() => (requests += 1));
  const { exitCode, stdout, stderr } = await startRecord(argv, { fetch });
  expect({ exitCode, stdout, requests }).toEqual({ exitCode: 1, stdout: "", requests: 0 });
  expect(stderr).toContain(message);
});

test("without names, the exchanges of a transport without a key are left out", async () => {
  const { folder } = await recordInto([], { env: { EVALUATOR_DIRECT_API_KEY: "a-key", CI: "" } });
  const names = loadExchanges(folder).map(({ name }) => name);
  expect(names).toHaveLength(15);
  expect(names.filter((name) => !name.startsWith("direct/"))).toEqual([]);
});

test("a folder typed is relative to where the person stands", async () => {
  const cwd = await temporaryFolder();
  await startRecord([gateway, "--out", "my recordings"], { cwd });
  expect(loadExchanges(join(cwd, "my recordings")).map(({ name }) => name)).toEqual([gateway]);
});

test("an interruption ends with 130 and keeps the recordings made so far", async () => {
  const interruption = new AbortController();
  const fetch = liveService((_answer, request) => {
    if (!request.headers.has("ai-model-id")) interruption.abort();
    request.signal.throwIfAborted();
  });
  const { signal } = interruption;
  const outcome = await recordInto([gateway, direct], { fetch, signal });
  expect(outcome).toMatchObject({ exitCode: 130, stderr: "Interrupted.\n" });
  expect(outcome.written).toEqual(["greeting-routes-to-nano.json"]);
});
