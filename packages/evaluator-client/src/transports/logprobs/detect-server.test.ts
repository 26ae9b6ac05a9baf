import { expect, test } from "vitest";
import { boolean } from "../../questions/kinds.ts";
import { byNumber, evaluatorOver, playChat } from "../../testing/played-chat.ts";

const state = { from: "a@example.com", subject: "Your invoice" };
test("detects the server once for evaluations at the same time", async () => {
  const { fetch, calls } = playChat(byNumber);
  const evaluator = evaluatorOver(fetch);
  const questions = { scam: boolean("Is it?") };
  await Promise.all([1, 2, 3].map(() => evaluator.evaluate({ state, questions })));
  await evaluator.evaluate({ state, questions });
  expect(calls.filter(({ method }) => method === "GET").map(({ path }) => path)).toEqual([
    "/v1/models",
    "/api/version",
  ]);
});

test.each<[unknown, unknown, string]>([
  [{ data: [{ owned_by: "vllm" }] }, null, "/tokenize"],
  [{ data: [{ owned_by: "sglang" }] }, null, "/tokenize"],
  [{ data: [{ owned_by: "llamacpp" }] }, null, "/apply-template"],
  [{ data: [{ owned_by: "library" }] }, null, "/v1/chat/completions"],
  [{ data: [{ owned_by: "constructor" }] }, { version: "0.35.0" }, "/v1/chat/completions"],
  [null, null, "/v1/chat/completions"],
])("a server that lists %j and the version %j is asked at %s", async (models, version, path) => {
  const paths: string[] = [];
  const fetch = async (url: string) => {
    const { pathname } = new URL(url);
    paths.push(pathname);
    const body = { "/v1/models": models, "/api/version": version }[pathname] ?? null;
    return Response.json(body ?? {}, { status: body === null ? 404 : 200 });
  };
  await evaluatorOver(fetch)
    .evaluate({ state, questions: { scam: boolean("?") } })
    .catch(() => null);
  expect(paths.find((asked) => !["/v1/models", "/api/version"].includes(asked))).toBe(path);
});

test("a server that is still loading is detected later", async () => {
  const { fetch, calls } = playChat(byNumber);
  let isLoading = true;
  const loading = async (url: string, init: RequestInit) =>
    isLoading
      ? Response.json({ error: { message: "Loading model" } }, { status: 503 })
      : fetch(url, init);
  const evaluator = evaluatorOver(loading);
  const questions = { scam: boolean("Is it?") };
  await expect(evaluator.evaluate({ state, questions })).rejects.toMatchObject({ status: 503 });
  isLoading = false;
  await evaluator.evaluate({ state, questions });
  expect(calls[0]?.path).toBe("/v1/models");
});
