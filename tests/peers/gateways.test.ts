import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { boolean, choice, createEvaluator, directTransport, score } from "evaluator-client";
import { createEmulator } from "evaluator-emulator";
import { expect, onTestFinished, test } from "vitest";
import { installEnvironment } from "./environments.ts";
import { PeerServer } from "./servers.ts";
import { triageInbox } from "./triage-inbox.ts";

// Gateways in front of the emulator: the client and triage get the same answers as without them.

const questions = {
  scam: boolean("Is it a scam?"),
  kind: choice("What is it?", { prize: "a lottery", other: "the rest" }),
  level: score("How bad is it?", ["fine", "odd", "fraud"]),
};
const state = { subject: "You have won the lottery", amount: 1_000_000 };

async function answersOf(transport: ReturnType<typeof directTransport>) {
  const { answers, confidence } = await createEvaluator({ transport, maxRetries: 0 }).evaluate({
    state,
    questions,
  });
  return { answers, confidence };
}

const litellm = await installEnvironment("litellm");

test.runIf("bin" in litellm)("LiteLLM's proxy passes both forms on", async () => {
  const bin = "bin" in litellm ? litellm.bin : "";
  await using folder = await mkdtempDisposable(join(tmpdir(), "litellm-"));
  const emulator = createEmulator({ keys: ["right-key"] });
  onTestFinished(() => emulator.close());
  const { origin } = await emulator.listen();
  const modelOf = (model: string, base: string) => ({
    model_name: model.split("/")[1],
    litellm_params: { model, api_base: base, api_key: "right-key" },
  });
  const models = [
    modelOf("typesafe/jev-latest", origin),
    modelOf("openai/gpt-6-luna", `${origin}/v1`),
  ];
  const config = join(folder.path, "config.yaml");
  await writeFile(config, JSON.stringify({ model_list: models }));
  const command = ["litellm", "--config", config, "--host", "127.0.0.1", "--port", "PORT"];
  await using proxy = await PeerServer.start(bin, command, {
    env: { LITELLM_LOCAL_MODEL_COST_MAP: "True", LITELLM_MASTER_KEY: "sk-team" },
    ready: "/health/liveliness",
  });

  for (const form of [
    { model: "jev-latest" },
    { model: "gpt-6-luna", wire: "decisions" as const },
  ]) {
    const through = directTransport({ ...form, baseUrl: proxy.origin, apiKey: "sk-team" });
    const straight = directTransport({ ...form, baseUrl: origin, apiKey: "right-key" });
    expect(await answersOf(through)).toEqual(await answersOf(straight));
  }
  const model = "jev-latest";
  const results = await triageInbox({ origin: proxy.origin, apiKey: "sk-team", model });
  expect(results).toEqual(await triageInbox({ origin, apiKey: "right-key", model }));
});

const clients = await installEnvironment("clients");

test.runIf("bin" in clients)("pydecide's server passes the vendor's form on", async () => {
  const bin = "bin" in clients ? clients.bin : "";
  await using folder = await mkdtempDisposable(join(tmpdir(), "pydecide-"));
  const emulator = createEmulator({ keys: ["right-key"] });
  onTestFinished(() => emulator.close());
  const { origin } = await emulator.listen();
  const env = {
    HOME: folder.path,
    DECIDE_BACKENDS: "typesafe",
    TYPESAFE_API_KEY: "right-key",
    TYPESAFE_BASE_URL: origin,
  };
  await using server = await PeerServer.start(bin, ["decide", "serve", "--port", "PORT"], { env });
  const through = directTransport({ baseUrl: server.origin, apiKey: null });
  const straight = directTransport({ baseUrl: origin, apiKey: "right-key" });
  expect((await answersOf(through)).answers).toEqual((await answersOf(straight)).answers);

  const model = "jev-latest";
  const results = await triageInbox({ origin: server.origin, apiKey: "any", model });
  const expected = await triageInbox({ origin, apiKey: "right-key", model });
  // Its confidence is its own.
  const notItsOwn = { categoryConf: expect.anything(), importanceConf: expect.anything() };
  expect(results).toEqual(expected.map((result) => Object.assign(result, notItsOwn)));
});
