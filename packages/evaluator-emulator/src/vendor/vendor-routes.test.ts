import { zstdCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { createEmulator } from "../create-emulator.ts";
import { post, postEvaluation, postSystemOne } from "../testing/requests.ts";

const emulator = createEmulator({ exchanges: [] });
const request = {
  model: "jev-latest",
  state: "You have won the lottery, claim your prize",
  questions: {
    scam: { type: "noul", instructions: "Is it a scam?" },
    kind: { type: "choice", instructions: "Which?", criteria: { prize: "a lottery", other: null } },
    level: { type: "score", instructions: "How bad?", criteria: ["fine", "fraud"] },
  },
};

test("an evaluation has the body of contract section 2.6", async () => {
  const { status, headers, json } = await postSystemOne(emulator, request);
  expect(status).toBe(200);
  expect(headers.get("x-typesafe-request-id")).toMatch(/^req_/);
  expect(headers.get("x-evaluator-emulator")).toBe("basis=lexical");
  expect(json).toMatchInlineSnapshot(`
    {
      "answers": {
        "kind": {
          "choice": "prize",
          "confidence": 0.12,
          "probabilities": {
            "other": 0.3,
            "prize": 0.7,
          },
          "type": "choice",
        },
        "level": {
          "confidence": 0.18,
          "legend": {
            "0": "fine",
            "1": "fraud",
          },
          "probabilities": {
            "0": 0.26,
            "1": 0.75,
          },
          "score": 0.75,
          "type": "score",
        },
        "scam": {
          "noul": 0.8,
          "type": "noul",
        },
      },
      "model": "local/lexical-1",
      "usage": {
        "input_tokens": 58,
        "output_tokens": 5,
      },
    }
  `);
});

test("answers at the host root too, whatever the host", async () => {
  const url = "https://api.typesafe.ai/v1/systemone";
  expect((await post(emulator, url, { body: request })).status).toBe(200);
});

test("without given keys none is asked for", async () => {
  expect((await postSystemOne(emulator, request)).status).toBe(200);
});

test.each([
  [undefined, 403],
  ["Bearer wrong", 401],
  ["Bearer right", 200],
])("with given keys, authorization %s gets %d", async (authorization, status) => {
  const closed = createEmulator({ exchanges: [], keys: ["right"] });
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  const response = await postSystemOne(closed, request, headers);
  expect(response.status).toBe(status);
  expect(response.headers.get("x-typesafe-request-id")).not.toBeNull();
  expect((await closed.fetch("/direct/v1/models", { headers })).status).toBe(status);
});

test("an unknown top-level field is a 400, one inside a question is ignored", async () => {
  const unknown = await postSystemOne(emulator, { ...request, providerOptions: {} });
  expect(unknown).toMatchObject({
    status: 400,
    json: { detail: "Unknown field: providerOptions" },
  });
  const scam = { ...request.questions.scam, weight: 3 };
  expect((await postSystemOne(emulator, { ...request, questions: { scam } })).status).toBe(200);
});

test.each([
  ["a null state", { ...request, state: null }, ["body", "state"]],
  ["a number as state", { ...request, state: 7 }, ["body", "state"]],
  ["no model", { state: "x", questions: request.questions }, ["body", "model"]],
  ["no questions", { ...request, questions: {} }, ["body", "questions"]],
  ["a boolean question", ask({ type: "boolean", instructions: "?" }), inQuestion("type")],
  ["a null level", ask({ type: "score", criteria: [null] }), inQuestion("criteria", 0)],
  ["no options", ask({ type: "choice", criteria: {} }), inQuestion("criteria")],
  ["not JSON", "{", ["body"]],
])("%s is a 422 that lists the field", async (_what, body, loc) => {
  const { status, json } = await postSystemOne(emulator, body);
  expect(status).toBe(422);
  expect(json).toMatchObject({
    detail: [{ loc, msg: expect.any(String), type: expect.any(String) }],
  });
});

function ask(question: object) {
  return { ...request, questions: { q: question } };
}
function inQuestion(...path: (string | number)[]) {
  return ["body", "questions", "q", ...path];
}

test("a state over the limit is a named 400 without a message", async () => {
  const { status, json } = await postSystemOne(emulator, { ...request, state: "x".repeat(2e5) });
  expect(status).toBe(400);
  expect(json).toEqual({ detail: { error_type: "max_tokens_exceeded" } });
});

test("an unknown model or address is a 404", async () => {
  expect(await postSystemOne(emulator, { ...request, model: "gpt" })).toMatchObject({
    status: 404,
    json: { detail: "Model not found" },
  });
  const response = await emulator.fetch("/direct/v1/none");
  expect(response.status).toBe(404);
  expect(await response.json()).toEqual({ detail: "Not Found" });
  expect(response.headers.get("x-typesafe-request-id")).not.toBeNull();
});

test("a body over the size limit is a 413", async () => {
  const { status, json } = await postSystemOne(emulator, "x".repeat(33 * 1024 * 1024));
  expect(status).toBe(413);
  expect(json).toMatchObject({ detail: expect.stringContaining("bytes") });
});

test("lists its models", async () => {
  const response = await emulator.fetch("/direct/v1/models");
  expect(await response.json()).toMatchObject({ models: [{ name: "jev-latest" }] });
});

const image = { type: "image", format: "jpg", data_base64: "/9j/4AAA" };
const dangerZone = { "TypeSafe-Danger-Zone-Images": "true" };

test("an image is named in the state, counted and not looked at", async () => {
  const withImage = { ...request, state: [request.state, "photo-7"], assets: { "photo-7": image } };
  const { json } = await postSystemOne(emulator, withImage, dangerZone);
  const { json: without } = await postSystemOne(emulator, request);
  const { answers, usage } = without as { answers: object; usage: { input_tokens: number } };
  expect(json).toMatchObject({ answers, usage: { input_tokens: usage.input_tokens + 200 } });
});

test.each([
  ["no header", { state: "photo-7", assets: { "photo-7": image } }, {}, /Danger-Zone-Images/],
  ["no name in the text", { assets: { "photo-7": image } }, dangerZone, /not referenced/],
  [
    "a GIF",
    { assets: { "photo-7": { ...image, format: "gif" } } },
    dangerZone,
    /"assets","photo-7","format"/,
  ],
  [
    "no base64",
    { assets: { "photo-7": { ...image, data_base64: "AAA" } } },
    dangerZone,
    /expected standard base64/,
  ],
])("rejects an image with %s", async (_, fields, headers, words) => {
  const { status, json } = await postSystemOne(emulator, { ...request, ...fields }, headers);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(JSON.stringify(json)).toMatch(words);
});

const mug = { type: "box", instructions: "the coffee mug in `photo-7`" };
const withMug = {
  ...request,
  state: "photo-7",
  questions: { mug },
  assets: { "photo-7": image },
};

test("a box is the middle of the image, or the one of a rule, with its confidence", async () => {
  const { json } = await postSystemOne(emulator, withMug, dangerZone);
  const middle = { top: 0.25, left: 0.25, bottom: 0.75, right: 0.75 };
  expect(json).toMatchObject({ answers: { mug: { type: "box", box: middle, confidence: 0 } } });
  const place = { top: 0.256, left: 0.44, bottom: 0.82, right: 0.84 };
  const ruled = createEmulator({ exchanges: [], rules: [{ answers: { "coffee mug": place } }] });
  expect((await postSystemOne(ruled, withMug, dangerZone)).json).toMatchObject({
    answers: { mug: { box: { ...place, top: 0.26 }, confidence: 1 } },
  });
  const plain = createEmulator({ exchanges: [], confidence: false });
  const { json: bare } = await postSystemOne(plain, withMug, dangerZone);
  expect(bare).toMatchObject({ answers: { mug: { box: middle } } });
  expect(JSON.stringify(bare)).not.toContain("confidence");
});

test.each([
  ["no image", { assets: undefined }, /needs an image/],
  ["a release before 1.14", { model: "jev-1.13.0" }, /Invalid request/],
])("a box with %s is a 400", async (_, fields, words) => {
  const { status, json } = await postSystemOne(emulator, { ...withMug, ...fields }, dangerZone);
  expect(status).toBe(400);
  expect(JSON.stringify(json)).toMatch(words);
});

test("a box is the vendor's question only", async () => {
  const { questions } = withMug;
  const body = { model: "clef", state: "x", questions };
  const path = "/client/v4/accounts/a/ai/run/@cf/cloudflare/clef";
  expect((await post(emulator, path, { body })).status).toBe(400);
  const asked = { state: "x", questions };
  expect((await post(emulator, "/v4/ai/evaluation-model", { body: asked })).status).toBe(401);
  expect((await postEvaluation(emulator, asked)).status).toBe(400);
});

test("an image may be a file beside the request, as the vendor's Python SDK sends it", async () => {
  const form = new FormData();
  const { assets: _assets, ...rest } = withMug;
  const named = { ...rest, assets: { "photo-7": { type: "image", part: "asset-0" } } };
  form.set("request", new Blob([JSON.stringify(named)], { type: "application/json" }));
  form.set("asset-0", new Blob([Uint8Array.of(255, 216, 255)], { type: "image/jpeg" }), "asset-0");
  const send = (body: FormData | string, headers: Record<string, string> = {}) =>
    emulator.fetch("/direct/v1/systemone", { method: "POST", body, headers });
  expect(await (await send(form)).json()).toMatchObject({ answers: { mug: { type: "box" } } });
  form.delete("asset-0");
  expect((await send(form)).status).toBe(422);
  const broken = { "content-type": "multipart/form-data; boundary=x" };
  expect((await send("none", broken)).status).toBe(422);
});

test("a packed body is unpacked, as the vendor's Python SDK sends long states", async () => {
  const questions = { spam: { type: "noul", instructions: "Is it spam?" } };
  const json = JSON.stringify({ model: "jev-latest", state: "hello", questions });
  const ask = (encoding: string) =>
    createEmulator({ exchanges: [] }).fetch("/v1/systemone", {
      method: "POST",
      headers: { "content-type": "application/json", "content-encoding": encoding },
      body: new Uint8Array(zstdCompressSync(json)),
    });
  expect((await ask("zstd")).status).toBe(200);
  expect((await ask("gzip")).status).toBe(422);
});
