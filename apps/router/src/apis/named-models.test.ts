import { describe, expect, test } from "vitest";
import { apiForms, post } from "../testing/api-forms.ts";
import { testRouter } from "../testing/test-router.ts";
import { parseRouterOptions } from "../router-options.ts";

const aliases = new Map([
  ["mine", "balanced"],
  ["house", "auto"],
  ["gpt-5-mini-fast", "openai/gpt-5"],
]);

interface Named {
  readonly form: (typeof apiForms)[number];
  readonly model: string;
  readonly text?: string;
}

/** Returns who replied to a request for a model, and how many evaluations it cost. */
async function replierOf({ form, model, text = "hi" }: Named, env: Record<string, string> = {}) {
  const { clientModels } = parseRouterOptions(env);
  const { request, seen } = await testRouter({}, { aliases, clientModels });
  const { status, headers } = await request(form.path, post(form.ask([text], { model })));
  const evaluations = seen.filter(({ path }) => path.endsWith("/evaluation-model")).length;
  return [status, headers.get("x-router-cause"), headers.get("x-router-model"), evaluations];
}

const nano = "openai/gpt-5-nano";
const decided = [200, "choice", nano, 1];
const smallest = [200, "requested", nano, 0];
const missing = [404, null, null, 0];

describe.each(apiForms)("$path", (form) => {
  test.each([
    ["auto", decided],
    ["nano", smallest],
    ["frontier", [200, "requested", "anthropic/claude-fable-5.1", 0]],
    ["mine", [200, "requested", "anthropic/claude-sonnet-5.5", 0]],
    ["house", decided],
    ["anthropic/claude-sonnet-5.5", [200, "requested", "anthropic/claude-sonnet-5.5", 0]],
    ["gemini-2.5-pro", missing],
    ["mistral-small", missing],
    ["gemini-2.5-flash", missing],
    ["__proto__", missing],
    ["constructor", missing],
  ])("%s", async (model, outcome) => {
    expect(await replierOf({ form, model })).toEqual(outcome);
  });

  test.each([
    ["claude-opus-4-1", form.name === "messages" ? decided : missing],
    ["claude-haiku-4-5", form.name === "messages" ? smallest : missing],
    ["claude-3-5-haiku-latest", form.name === "messages" ? smallest : missing],
    ["gpt-5", form.name === "messages" ? missing : decided],
    ["gpt-5-mini", form.name === "messages" ? missing : smallest],
    ["gpt-4.1-nano", form.name === "messages" ? missing : smallest],
    ["gpt-4o-minimal", form.name === "messages" ? missing : decided],
    ["o3", form.name === "messages" ? missing : decided],
    ["o4-mini", form.name === "messages" ? missing : smallest],
    ["codex-mini-latest", form.name === "messages" ? missing : smallest],
    ["chatgpt-4o-latest", form.name === "messages" ? missing : decided],
  ])("%s is a client's own name at its API only", async (model, outcome) => {
    expect(await replierOf({ form, model })).toEqual(outcome);
    const named = { ROUTER_CLIENT_MODELS: "named" };
    expect(await replierOf({ form, model }, named)).toEqual(missing);
  });

  test("a program's own tasks take the cheapest tier, without an evaluation", async () => {
    const task = [200, "task", nano, 0];
    const text = "### Task:\nGenerate 1-3 broad tags.";
    expect(await replierOf({ form, model: "auto", text })).toEqual(task);
    const quoted = await replierOf({ form, model: "auto", text: `What is\n${text}` });
    expect(quoted).toEqual([200, "choice", expect.any(String), 1]);
  });

  test("a title generator takes the cheapest tier, without an evaluation", async () => {
    const { request, seen } = await testRouter();
    const system = "You are a title generator. You output ONLY a thread title.";
    const body = form.ask(["Fix the bug of the cart."]);
    const { messages } = body;
    const bodies = {
      chat: { ...body, messages: [{ role: "system", content: system }].concat(messages as []) },
      responses: { ...body, instructions: system },
      messages: { ...body, system: [{ type: "text", text: system }] },
    };
    const { headers } = await request(form.path, post(bodies[form.name]));
    expect(headers.get("x-router-cause")).toBe("task");
    expect(headers.get("x-router-model")).toBe(nano);
    expect(seen).toHaveLength(1);
  });
});

test.each(["claude-opus-4-1", "claude-haiku-4-5", "gpt-5", "o4-mini"])(
  "%s, a client's own name, can be looked up",
  async (id) => {
    const lookUp = async (env: Record<string, string>, headers = {}) => {
      const { clientModels } = parseRouterOptions(env);
      const { request } = await testRouter({}, { clientModels });
      const response = await request(`/v1/models/${id}`, { headers });
      return [response.status, await response.json()];
    };
    expect(await lookUp({})).toMatchObject([200, { id, object: "model" }]);
    const asAnthropic = await lookUp({}, { "anthropic-version": "2023-06-01" });
    expect(asAnthropic).toMatchObject(
      id.startsWith("claude") ? [200, { id, type: "model" }] : [404, { type: "error" }],
    );
    expect(await lookUp({ ROUTER_CLIENT_MODELS: "named" })).toMatchObject([404, {}]);
  },
);
