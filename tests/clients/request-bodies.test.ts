import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { GoogleGenAI } from "@google/genai";
import { OpenRouter } from "@openrouter/sdk";
import * as typesafe from "@typesafe-ai/sdk";
import { createGateway, experimental_decide as decide } from "ai";
import {
  createGateway as createContractGateway,
  experimental_evaluate as evaluate,
} from "ai-contract";
import OpenAI from "openai";
import { afterAll, expect, test } from "vitest";
import {
  boolean,
  choice,
  createEvaluator,
  directTransport,
  gatewayTransport,
  image,
  score,
  type Transport,
} from "evaluator-client";
import { createEmulator } from "evaluator-emulator";

globalThis.AI_SDK_LOG_WARNINGS = false;
const emulator = createEmulator({ exchanges: [] });
let sent: { path: string; body: object }[] = [];
/** What the packages of the gateway send and the gateway does not need. */
const defaults = { providerOptions: {} };

// Keeps each request and lets the emulator answer it.
const server = createServer((incoming, outgoing) => {
  const chunks: Buffer[] = [];
  incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
  incoming.on("end", () => {
    const { url = "", headers } = incoming;
    const text = Buffer.concat(chunks).toString();
    sent.push({ path: url, body: JSON.parse(text) as object });
    const named = Object.entries(headers).map(([name, value]) => [name, String(value)]);
    const call = { method: "POST", headers: Object.fromEntries(named), body: text };
    void emulator.fetch(url, call).then(async (response) => {
      outgoing.writeHead(response.status, { "content-type": "application/json" });
      outgoing.end(await response.text());
    });
  });
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(() => server.close());

const state = "You have won the lottery";
const instructions = "What is it?";
const criteria = { prize: "a lottery", other: "the rest" };
const levels: [string, string] = ["fine", "fraud"];
const meanings = { true: "it is a scam", false: "it is none" };
const questions = {
  kind: choice(instructions, criteria),
  level: score(instructions, levels),
  scam: boolean(instructions, meanings),
};
const plain = {
  kind: { type: "choice" as const, instructions, criteria },
  level: { type: "score" as const, instructions, criteria: levels },
};
const noul = { type: "noul" as const, instructions, criteria: meanings };

function ours(transport: Transport) {
  return createEvaluator({ transport }).evaluate({ state, questions });
}
const apiKey = "a-key";
const gemini = { true_description: meanings.true, false_description: meanings.false };

test.each([
  [
    "@typesafe-ai/sdk",
    () =>
      new typesafe.TypeSafeClient({ apiKey, baseURL: origin, logLevel: "off" }).systemOne({
        state,
        questions: { ...plain, scam: noul },
      }),
    () => ours(directTransport({ service: "typesafe", apiKey, baseUrl: origin })),
  ],
  [
    "openai",
    () =>
      new OpenAI({ apiKey, baseURL: `${origin}/v1` }).decisions.create({
        model: "gpt-6-luna",
        input: state,
        questions: [
          {
            type: "choice",
            name: "kind",
            instructions,
            choices: Object.entries(criteria).map(([value, description]) => ({
              value,
              description,
            })),
          },
          {
            type: "score",
            name: "level",
            instructions,
            levels: levels.map((label) => ({ label })),
          },
          { type: "predicate", name: "scam", instructions },
        ],
      }),
    () =>
      createEvaluator({
        transport: directTransport({ service: "openai", apiKey, baseUrl: origin }),
      }).evaluate({ state, questions: { ...questions, scam: boolean(instructions) } }),
  ],
  [
    "@google/genai",
    () =>
      new GoogleGenAI({
        apiKey,
        httpOptions: { baseUrl: origin, apiVersion: "v1beta" },
      }).decisions.create({
        model: "gemini-decision-1",
        input: state,
        questions: { ...plain, scam: { ...noul, criteria: gemini } },
      }),
    () => ours(directTransport({ service: "gemini", apiKey, baseUrl: origin })),
  ],
  [
    "@openrouter/sdk",
    () =>
      new OpenRouter({ apiKey }).alpha.decisions.create(
        {
          decisionsRequest: {
            model: "typesafe/jev-1.14",
            state,
            questions: { ...plain, scam: noul },
          },
        },
        { serverURL: origin },
      ),
    () => ours(directTransport({ service: "openrouter", apiKey, baseUrl: origin })),
  ],
  [
    "@ai-sdk/gateway of the contract",
    () =>
      evaluate({
        model: createContractGateway({ apiKey, baseURL: `${origin}/v4/ai` }).evaluationModel(
          "typesafe-ai/jev",
        ),
        state,
        questions: { ...plain, scam: { type: "boolean", instructions, criteria: meanings } },
      }),
    () => ours(gatewayTransport({ apiKey, baseUrl: `${origin}/v4/ai` })),
  ],
  [
    "@ai-sdk/gateway",
    () =>
      decide({
        model: createGateway({ apiKey, baseURL: `${origin}/v4/ai` }).decisionModel(
          "typesafe-ai/jev",
        ),
        state,
        questions: { ...plain, scam: { type: "boolean", instructions, criteria: meanings } },
      }),
    () => ours(gatewayTransport({ apiKey, baseUrl: `${origin}/v4/ai`, wire: "decision-model" })),
  ],
])(
  "our client asks as %s does, but for the order of fields and defaults",
  async (_name, theirs, own) => {
    const [their, our] = await bodiesOf(theirs, own);
    expect(our).toEqual(their);
  },
);

/** Returns what their client and ours send. */
async function bodiesOf(theirs: () => PromiseLike<unknown>, own: () => PromiseLike<unknown>) {
  sent = [];
  await theirs();
  await own();
  expect(sent).toHaveLength(2);
  return sent.map(({ path, body }) => ({ path, body: { ...defaults, ...body } }));
}

const data = "iVBORw0KGgo=";

function askParts(service: "openai" | "gemini") {
  const transport = directTransport({ service, apiKey, baseUrl: origin });
  const parts = ["Look", { json: { order: 7 } }, image(Buffer.from(data, "base64"))];
  const scam = boolean(instructions);
  return createEvaluator({ transport }).evaluate({ state: parts, questions: { scam } });
}

test("a state of parts with an image is that of OpenAI's client and of Google's", async () => {
  const [openai, ourOpenai] = await bodiesOf(
    () =>
      new OpenAI({ apiKey, baseURL: `${origin}/v1` }).decisions.create({
        model: "gpt-6-luna",
        input: [
          {
            role: "user",
            content: [
              { type: "input_text", text: "Look" },
              { type: "input_json", data: { order: 7 } },
              { type: "input_image", image_url: `data:image/png;base64,${data}` },
            ],
          },
        ],
        questions: [{ type: "predicate", name: "scam", instructions }],
      }),
    () => askParts("openai"),
  );
  const [google, ourGoogle] = await bodiesOf(
    () =>
      new GoogleGenAI({
        apiKey,
        httpOptions: { baseUrl: origin, apiVersion: "v1beta" },
      }).decisions.create({
        model: "gemini-decision-1",
        input: [
          { type: "text", text: "Look" },
          { type: "text", text: '{"order":7}' },
          { type: "image", mime_type: "image/png", data },
        ],
        questions: { scam: { type: "noul", instructions } },
      }),
    () => askParts("gemini"),
  );
  expect(ourOpenai).toEqual(openai);
  expect(ourGoogle).toEqual(google);
});
