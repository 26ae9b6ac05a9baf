import { expect, test } from "vitest";
import { callFor, hello, targetAt } from "../testing/reply-calls.ts";
import { fitEfforts, nearestEffort } from "./efforts.ts";
import { connectUpstream } from "./upstream.ts";

const capabilities = { efforts: ["low", "medium", "high"] };

test.each([
  ["medium", ["low", "medium"], "medium"],
  ["xhigh", ["low", "medium", "high"], "high"],
  ["minimal", ["low", "high"], "low"],
  ["medium", ["low", "high"], "low"],
  ["max", ["low", "xhigh", "odd"], "xhigh"],
  ["medium", ["high"], "medium"],
  ["none", ["low", "high"], "none"],
  ["odd", ["low", "high"], "odd"],
  ["high", [], "high"],
])("%s at a model with %j is %s", (wanted, efforts, nearest) => {
  expect(nearestEffort(wanted, { efforts })).toBe(nearest);
});

test.each([
  [{ reasoning_effort: "xhigh" }, { reasoning_effort: "high" }],
  [
    { reasoning: { effort: "minimal", summary: "auto" } },
    { reasoning: { effort: "low", summary: "auto" } },
  ],
  [{ output_config: { effort: "max" } }, { output_config: { effort: "high" } }],
  [{ reasoning_effort: "low", reasoning: null, output_config: { effort: 5 }, text: "xhigh" }, {}],
])("of the body %j the fields %j change", (body, changed) => {
  expect(fitEfforts(body, capabilities)).toEqual(changed);
  expect(fitEfforts(body)).toEqual({});
});

test("a model gets its nearest effort, translated and passed", async () => {
  const sent: unknown[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    sent.push(await new Request(input, init).json());
    const message = { content: "ok" };
    return Response.json({ choices: [{ index: 0, message, finish_reason: "stop" }] });
  };
  const service = { type: "openai-chat", name: "a", baseUrl: "http://a.invalid/v1" } as const;
  const target = {
    ...targetAt(connectUpstream({ ...service, apiKey: null, fetch })),
    capabilities,
  };
  const body = { model: "auto", reasoning_effort: "xhigh" };
  const passed = {
    upstreamType: service.type,
    json: JSON.stringify(body),
    body,
    unsupported: null,
  };
  const conversation = { ...hello, settings: { reasoning: "xhigh" as const } };
  for (const options of [{ conversation }, { passed }]) {
    expect((await callFor([target], options).reply).replyError).toBeNull();
  }
  expect(sent).toMatchObject([{ reasoning_effort: "high" }, { reasoning_effort: "high" }]);
});
