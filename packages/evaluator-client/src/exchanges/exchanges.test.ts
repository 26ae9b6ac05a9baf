import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createEmulator } from "evaluator-emulator";
import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import type { Fetch } from "../http/http-client.ts";
import { choice } from "../questions/kinds.ts";
import { image } from "../questions/state.ts";
import { onePixel } from "../testing/one-pixel.ts";
import {
  changed,
  gateway,
  recorder,
  recordingKey as key,
  scam,
  temporaryFolder,
} from "../testing/recorder.ts";
import { directTransport } from "../transports/direct/direct-transport.ts";
import { gatewayTransport } from "../transports/gateway/gateway-transport.ts";
import { logprobsTransport } from "../transports/logprobs/logprobs-transport.ts";
import { type ExchangeOptions, MissingExchangeError, type record, replay } from "./index.ts";

test.each<[string, ExchangeOptions["transport"]]>([
  ["the gateway", gateway],
  ["the gateway's successor", (own) => gateway({ ...own, wire: "decision-model" } as never)],
  ["the vendor", (own) => directTransport({ apiKey: key, ...(own as object) })],
  [
    "a chat server",
    (own) => logprobsTransport({ baseUrl: "http://127.0.0.1:1", model: "local/tiny", ...own }),
  ],
])("what %s answered is answered again, without a network", async (_name, transport) => {
  const folder = await temporaryFolder();
  const options = transport === undefined ? {} : { transport };
  const { fetch } = createEmulator({ engine: "ollama" });
  const live = await recorder(folder, { ...options, fetch }).evaluate(scam);
  const replayed = replay(folder, options);
  const evaluator = createEvaluator({ transport: replayed });
  for (let times = 0; times < 2; times += 1) {
    const again = await evaluator.evaluate(scam);
    expect(again).toMatchObject({ answers: live.answers, transport: live.transport });
    expect(again.costUsd).toBe(live.costUsd);
  }
  replayed.assertAllUsed();
});

test("a file holds the request without its key, and ids that tie it to no account", async () => {
  const folder = await temporaryFolder();
  await recorder(folder).evaluate(scam, { headers: { "x-tenant": "workshop-tenant" } });
  const [file = ""] = await readdir(folder);
  expect(file).toMatch(/^scam-[0-9a-f]{12}\.json$/);
  const text = await readFile(join(folder, file), "utf8");
  expect(JSON.parse(text)).toMatchObject({
    provenance: { source: "live", recordedAt: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) },
    request: { method: "POST", path: "/v4/ai/evaluation-model", body: { state: scam.state } },
    response: { body: { providerMetadata: { gateway: { generationId: "gen_recorded0001" } } } },
  });
  for (const secret of [key, "workshop-tenant", "authorization"])
    expect(text).not.toContain(secret);
});

test("a call that was not recorded says what was asked and how to record it, once, and no text", async () => {
  const folder = await temporaryFolder();
  await recorder(folder).evaluate(scam);
  let attempts = 0;
  const transport = replay(folder);
  const evaluator = createEvaluator({ transport, onAttempt: () => (attempts += 1) });
  const asked = evaluator.evaluate({ ...scam, state: { subject: "private words", "to me": 1 } });
  await expect(asked).rejects.toMatchObject({
    name: "MissingExchangeError",
    questionIds: ["scam"],
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    message: expect.stringMatching(
      /^No exchange in \S+ answers the question scam, asked of typesafe-ai\/jev over evaluation-model \(digest [0-9a-f]{12}\)\. To record it, make the evaluator with record\(folder\)/,
    ),
  });
  await expect(asked).rejects.not.toThrow(/private|to me/);
  expect(attempts).toBe(1);
});

test("another model, and a folder that is not there, are missing too", async () => {
  const folder = await temporaryFolder();
  await recorder(folder).evaluate(scam);
  const other = replay(folder, {
    transport: (own) => gatewayTransport({ ...own, modelId: "a/b" }),
  });
  const asked = createEvaluator({ transport: other }).evaluate(scam);
  await expect(asked).rejects.toThrow("asked of a/b over evaluation-model");
  const empty = createEvaluator({ transport: replay(join(folder, "nowhere")) });
  await expect(empty.evaluate(scam)).rejects.toThrow(/nowhere answers the question scam/);
});

test("exchanges that no call used are named", async () => {
  const folder = await temporaryFolder();
  const evaluator = recorder(folder);
  await evaluator.evaluate(scam);
  await evaluator.evaluate({ ...scam, questions: { tier: choice("?", { a: "A", b: "B" }) } });
  const transport = replay(folder);
  await createEvaluator({ transport }).evaluate({ ...scam, state: { ...scam.state } });
  expect(() => transport.assertAllUsed()).toThrow(
    /delete the outdated ones:\n {2}tier-[0-9a-f]{12}\.json\n$/,
  );
});

test.each<[string, Parameters<typeof record>[1], string]>([
  [
    "the key in a header that would be dropped",
    { fetch: changed((_body, headers) => headers.set("x-debug", `Bearer ${key}`)) },
    "its header x-debug holds the key verbatim",
  ],
  [
    "the key encoded in the body",
    { fetch: changed((body) => (body["debug"] = Buffer.from(key).toString("base64"))) },
    "its body holds the key in base64",
  ],
  [
    "another key in the body",
    { fetch: changed((body) => (body["debug"] = ["s", "k-abcdefghijklmnop"].join(""))) },
    "a prefixed key in response.body.debug",
  ],
])("an answer with %s is written nowhere", async (_what, options, found) => {
  const folder = await temporaryFolder();
  const asked = recorder(folder, options).evaluate(scam);
  await expect(asked).rejects.toMatchObject({
    name: "RecordingError",
    message: expect.stringContaining(found),
  });
  await expect(asked).rejects.not.toThrow(key);
  expect(await readdir(folder)).toEqual([]);
});

test("a state with a real address is not sent, unless redact takes it out, in both ways", async () => {
  const folder = await temporaryFolder();
  const from = ["someone@", "mail.com"].join("");
  const request = { ...scam, state: { from } };
  let sent = 0;
  const counting: Fetch = (url, init) => {
    sent += 1;
    return createEmulator().fetch(url, init);
  };
  const rejected = recorder(folder, { fetch: counting }).evaluate(request);
  await expect(rejected).rejects.toThrow(
    "an address outside the reserved domains in request.body.state.from. Nothing was sent.",
  );
  expect(sent).toBe(0);
  const redact = (text: string) => text.replaceAll(from, "someone@example.com");
  await recorder(folder, { redact, fetch: counting }).evaluate(request);
  const transport = replay(folder, { redact });
  await expect(createEvaluator({ transport }).evaluate(request)).resolves.toBeDefined();
});

test("a state that holds the key in use is not sent, in base64 either", async () => {
  const folder = await temporaryFolder();
  const state = `debug ${Buffer.from(key).toString("base64")}`;
  const asked = recorder(folder).evaluate({ ...scam, state });
  await expect(asked).rejects.toThrow(
    "it holds the key in base64 in the request. Nothing was sent.",
  );
  expect(await readdir(folder)).toEqual([]);
});

test("a short key, as for an emulator, is no secret, and a header of one's own is in no file", async () => {
  const folder = await temporaryFolder();
  const transport = (own: object) =>
    gatewayTransport({ ...own, apiKey: "local", headers: { "ai-own-token": "a-word-of-mine" } });
  await recorder(folder, { transport }).evaluate({ ...scam, state: "a local state" });
  const [file = ""] = await readdir(folder);
  expect(await readFile(join(folder, file), "utf8")).not.toContain("a-word-of-mine");
});

test.each<[string, NonNullable<ExchangeOptions["transport"]>]>([
  ["gateway", (own) => gatewayTransport({ apiKey: key, ...own, wire: "decision-model" })],
  ["vendor", (own) => directTransport({ apiKey: key, ...(own as object) })],
])(
  "of an image over the %s's wire a file holds the digest, which tells it from others",
  async (_name, transport) => {
    const folder = await temporaryFolder();
    const { questions } = scam;
    const state = ["a photo", image(onePixel)];
    const live = await recorder(folder, { transport }).evaluate({ state, questions });
    const [file = ""] = await readdir(folder);
    const text = await readFile(join(folder, file), "utf8");
    expect(text).toMatch(/"image sha256:[0-9a-f]{16}"/);
    expect(text).not.toContain(onePixel.toString("base64").slice(0, 20));
    const evaluator = createEvaluator({ transport: replay(folder, { transport }) });
    expect(await evaluator.evaluate({ state, questions })).toMatchObject({ answers: live.answers });
    const other = ["a photo", image(Buffer.concat([onePixel, onePixel]))];
    const failure = evaluator.evaluate({ state: other, questions });
    await expect(failure).rejects.toBeInstanceOf(MissingExchangeError);
  },
);

test("a folder that cannot be made is named, and so is a file that is no exchange", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "old.json"), "{}");
  expect(() => replay(folder)).toThrow(/old\.json is not an exchange: description/);
  const asked = recorder(join(folder, "old.json", "deeper")).evaluate(scam);
  await expect(asked).rejects.toThrow(/deeper\S+ cannot be written \(ENOTDIR\)/);
});

test("a transport that would go past the folder is rejected", async () => {
  const folder = await temporaryFolder();
  const { fetch } = createEmulator();
  const transport = replay(folder, { transport: () => gatewayTransport({ apiKey: key, fetch }) });
  const asked = createEvaluator({ transport }).evaluate(scam);
  await expect(asked).rejects.toMatchObject({ name: "ConfigurationError", option: "transport" });
  expect(() => replay(folder, { redact: 1 as never })).toThrow('The option "redact" is wrong');
});
