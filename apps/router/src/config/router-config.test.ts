import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { upstreamTypes } from "../conversation/upstream-types.ts";
import { redactor } from "../reply/redactor.ts";
import { parseRouterOptions } from "../router-options.ts";
import {
  changed,
  local,
  messageOf,
  nano,
  plantedKeys,
  readConfig,
} from "../testing/read-config.ts";
import { readRouterConfig } from "./router-config.ts";

test("the README lists the types of upstreams", async () => {
  const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
  const names = Object.keys(upstreamTypes).map((name) => `\`${name}\``);
  const row = `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
  expect(readme).toMatch(new RegExp(`\\| \`type\` +\\| ${row} +\\|`));
});

/** The file of the README. */
async function documentedFile(): Promise<string> {
  const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
  const [, json = ""] = /## Several upstreams\n.*?```json\n(.*?)```/s.exec(readme) ?? [];
  return json;
}

test("reads the documented file", async () => {
  expect(await readConfig(await documentedFile())).toStrictEqual({
    upstreams: new Map([
      [
        "local",
        {
          type: "openai-chat",
          baseUrl: "http://127.0.0.1:11434/v1",
          apiKey: null,
          keyVariable: null,
        },
      ],
      [
        "gateway",
        {
          type: "gateway",
          baseUrl: null,
          apiKey: "gateway-key-planted",
          keyVariable: "AI_GATEWAY_API_KEY",
        },
      ],
      [
        "claude",
        {
          type: "anthropic",
          baseUrl: "https://api.example.com",
          apiKey: "claude-key-planted",
          keyVariable: "CLAUDE_KEY",
        },
      ],
    ]),
    keys: ["gateway-key-planted", "claude-key-planted"],
    tiers: {
      nano: {
        targets: [
          {
            upstream: "local",
            model: "qwen3:4b",
            price: { inputUsdPerMillionTokens: 0, outputUsdPerMillionTokens: 0 },
          },
        ],
        maxRetries: 2,
      },
      frontier: {
        targets: [
          {
            upstream: "claude",
            model: "claude-x",
            price: {
              inputUsdPerMillionTokens: 10,
              outputUsdPerMillionTokens: 50,
              cacheReadUsdPerMillionTokens: 1,
              cacheWriteUsdPerMillionTokens: 12.5,
            },
          },
          { upstream: "gateway", model: "acme/large", price: null },
        ],
        maxRetries: 2,
        idleTimeoutMs: 60_000,
        timeoutMs: 0,
      },
    },
    aliases: new Map([["gpt-4o", "balanced"]]),
    decisions: [],
    models: new Map(),
  });
});

test("every field may be absent", async () => {
  const empty = {
    upstreams: new Map(),
    keys: [],
    tiers: {},
    aliases: new Map(),
    decisions: [],
    models: new Map(),
  };
  expect(await readConfig("\uFEFF{}")).toStrictEqual(empty);
});

test("a gateway has the key and the address of the variables unless it names others", async () => {
  const gateway = { type: "gateway" };
  const own = { ...gateway, baseUrl: "http://127.0.0.1:2/v4/ai/", apiKeyEnv: "CLAUDE_KEY" };
  const variables = { ...plantedKeys, EVALUATOR_BASE_URL: "http://127.0.0.1:1/v4/ai" };
  const config = await readConfig({ upstreams: { one: gateway, other: own } }, variables);
  expect([...(config?.upstreams.values() ?? [])]).toMatchObject([
    { baseUrl: "http://127.0.0.1:1/v4/ai", apiKey: plantedKeys.AI_GATEWAY_API_KEY },
    {
      baseUrl: "http://127.0.0.1:2/v4/ai",
      apiKey: plantedKeys.CLAUDE_KEY,
      keyVariable: "CLAUDE_KEY",
    },
  ]);
});

test.each([
  ["openai-chat", "http://127.0.0.1:1", "http://127.0.0.1:1/v1"],
  ["openai-responses", "http://127.0.0.1:1/openai/v1/", "http://127.0.0.1:1/openai/v1"],
  ["anthropic", "http://127.0.0.1:1/", "http://127.0.0.1:1"],
  ["anthropic", "http://127.0.0.1:1/v1", "http://127.0.0.1:1"],
  ["anthropic", "http://127.0.0.1:1/proxy/", "http://127.0.0.1:1/proxy"],
])("the address of an upstream of the type %s at %s is %s", async (type, baseUrl, address) => {
  const config = await readConfig({ upstreams: { one: { type, baseUrl } } });
  expect(config?.upstreams.get("one")).toMatchObject({ baseUrl: address, apiKey: null });
});

test("reads 10,000 upstreams with 10,000 fallbacks", async () => {
  const names = Array.from({ length: 10_000 }, (_, at) => `local-${at}`);
  const upstreams = Object.fromEntries(names.map((name) => [name, local]));
  const fallbacks = names.map((upstream) => ({ upstream, model: "m" }));
  const tiers = { nano: { upstream: names[0], model: "m", fallbacks } };
  const config = await readConfig({ upstreams, tiers });
  expect(config?.upstreams.size).toBe(10_000);
  expect(config?.tiers.nano?.targets).toHaveLength(10_001);
});

test("a wrong EVALUATOR_BASE_URL is left to the variables", async () => {
  const variables = { ...plantedKeys, EVALUATOR_BASE_URL: "planted" };
  const config = await readConfig({ upstreams: { one: { type: "gateway" } } }, variables);
  expect(() => parseRouterOptions(variables, config)).toThrow(
    /^EVALUATOR_BASE_URL="planted" is not/,
  );
});

test("ROUTER_CONFIG names another file, which must exist", async () => {
  const folder = await temporaryFolder();
  expect(await readRouterConfig(plantedKeys, folder)).toBeNull();
  const missing = { ROUTER_CONFIG: "other.json" };
  expect(await messageOf(readRouterConfig(missing, folder))).toBe(
    "Cannot read other.json: no such file or directory. Check the path. ROUTER_CONFIG names it.",
  );
  await writeFile(join(folder, "other.json"), '{"aliases":{"a":"auto"}}');
  const config = await readRouterConfig({ ROUTER_CONFIG: " other.json\n" }, folder);
  expect(config?.aliases).toEqual(new Map([["a", "auto"]]));
});

test("a folder in place of the file is an error", async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "router.config.json"));
  expect(await messageOf(readRouterConfig(plantedKeys, folder))).toBe(
    "Cannot read router.config.json: illegal operation on a directory. Name a file, not a folder.",
  );
});

test("the file wins over the variables, and absent tiers use them", async () => {
  const file = { ...changed({}), aliases: { "gpt-4o": "fast", mine: "auto" } };
  const variables = {
    ...plantedKeys,
    ROUTER_MODEL_NANO: "a/nano",
    ROUTER_MODEL_FAST: "a/fast",
  };
  const { tierModels, aliases } = parseRouterOptions(variables, await readConfig(file));
  expect(tierModels).toMatchObject({ nano: "qwen3:4b", fast: "a/fast" });
  expect([...aliases]).toEqual([
    ["gpt-4o", "fast"],
    ["mine", "auto"],
  ]);
});

test("ROUTER_REPLY_BASE_URL wants no model for the tiers of the file", async () => {
  const tiers = { nano, fast: nano, balanced: nano, frontier: nano };
  const config = await readConfig({ upstreams: { local }, tiers });
  const { tierModels } = parseRouterOptions({ ROUTER_REPLY_BASE_URL: "http://a" }, config);
  expect(new Set(Object.values(tierModels))).toEqual(new Set(["qwen3:4b"]));
});

test("the keys of the file's upstreams are secrets", async () => {
  const claude = { ...local, apiKeyEnv: "CLAUDE_KEY" };
  const { engines } = parseRouterOptions({}, await readConfig({ upstreams: { claude } }));
  expect(redactor(engines.secrets)(`is ${plantedKeys.CLAUDE_KEY} wrong?`)).toBe(
    "is [secret] wrong?",
  );
});
