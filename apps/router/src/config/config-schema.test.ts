import { expect, test } from "vitest";
import { changed, local, messageOf, nano, readConfig } from "../testing/read-config.ts";

const fieldsOfFile =
  "is not a known field; the fields are upstreams, tiers, aliases, decisions, models";
const notSecret = "is a secret; name its environment variable in apiKeyEnv";
const notUrl = "is not an http or https URL without user name, password, query and fragment";
const notUsd = "is not a number of US dollars per million tokens, such as 0.25";

const wrong: [situation: string, file: unknown, problem: string][] = [
  ["no JSON", '{"upstreams": planted}', "the file is not JSON at line 1 column 15."],
  ["a comma too many", '{\n  "tiers": {},\n}', "the file is not JSON at line 3 column 1."],
  ["an empty file", "", "the file is not JSON at line 1 column 1."],
  ["null", "null", "the file is not an object."],
  ["a list", "[]", "the file is not an object."],
  ["an unknown field", { upstream: {} }, `upstream ${fieldsOfFile}.`],
  [
    "an unknown tier",
    { tiers: { large: nano } },
    "tiers.large is not a known field; the fields are nano, fast, balanced, frontier.",
  ],
  [
    "an unknown field of an upstream",
    changed({ upstream: { url: "x" } }),
    "upstreams.local.url is not a known field; the fields are type, baseUrl, apiKeyEnv.",
  ],
  ["a key", changed({ upstream: { apiKey: "planted" } }), `upstreams.local.apiKey ${notSecret}.`],
  [
    "a key of a tier",
    changed({ tier: { api_key: "planted" } }),
    `tiers.nano.api_key ${notSecret}.`,
  ],
  ["upstreams as a list", { upstreams: [local] }, "upstreams is not an object."],
  [
    "an upstream as a text",
    { upstreams: { local: "planted" } },
    "upstreams.local is not an object.",
  ],
  [
    "an upstream's name with a space",
    { upstreams: { "a b": local } },
    'upstreams["a b"] is not a name of up to 64 letters, digits and the signs . _ -.',
  ],
  [
    "an unknown type",
    changed({ upstream: { type: "openai" } }),
    "upstreams.local.type is none of gateway, openai-chat, openai-responses, anthropic.",
  ],
  [
    "no address",
    { upstreams: { claude: { type: "anthropic" } } },
    "upstreams.claude.baseUrl is missing.",
  ],
  [
    "an address with a password",
    changed({ upstream: { baseUrl: "http://me:planted@127.0.0.1" } }),
    `upstreams.local.baseUrl ${notUrl}, such as http://127.0.0.1:11434/v1.`,
  ],
  [
    "an address with a query",
    changed({ upstream: { baseUrl: "http://127.0.0.1?key=planted" } }),
    `upstreams.local.baseUrl ${notUrl}, such as http://127.0.0.1:11434/v1.`,
  ],
  [
    "a variable that is not set",
    changed({ upstream: { apiKeyEnv: "LOCAL_KEY" } }),
    "upstreams.local.apiKeyEnv names LOCAL_KEY, which is not set.",
  ],
  [
    "a key in place of its variable",
    changed({ upstream: { apiKeyEnv: "sk-planted" } }),
    "upstreams.local.apiKeyEnv is not the name of an environment variable, such as CLAUDE_KEY.",
  ],
  [
    "a key that no header can carry",
    changed({ upstream: { apiKeyEnv: "BROKEN_KEY" } }),
    "upstreams.local.apiKeyEnv names BROKEN_KEY, which has a space, a line break or another character that no key has.",
  ],
  [
    "an unknown upstream",
    changed({ tier: { upstream: "locl" } }),
    'tiers.nano.upstream "locl" is not one of upstreams: local, gateway.',
  ],
  [
    "an unknown upstream of a fallback",
    changed({ tier: { fallbacks: [nano, { upstream: "x", model: "m" }] } }),
    'tiers.nano.fallbacks[1].upstream "x" is not one of upstreams: local, gateway.',
  ],
  [
    "a tier without an upstream",
    changed({ tier: { upstream: undefined } }),
    "tiers.nano.upstream is not one of upstreams: local, gateway.",
  ],
  [
    "a fallback with retries",
    changed({ tier: { fallbacks: [{ ...nano, maxRetries: 1 }] } }),
    "tiers.nano.fallbacks[0].maxRetries is not a known field; the fields are upstream, model, price, contextWindow, maxOutputTokens, images, files, tools, efforts.",
  ],
  [
    "fallbacks that are no list",
    changed({ tier: { fallbacks: nano } }),
    "tiers.nano.fallbacks is not a list.",
  ],
  [
    "a tier without a model",
    changed({ tier: { model: undefined } }),
    "tiers.nano.model is not the name of a model, such as qwen3:4b.",
  ],
  [
    "a model with a line break",
    changed({ tier: { model: "a\nb" } }),
    "tiers.nano.model is not the name of a model, such as qwen3:4b.",
  ],
  [
    "a price without output",
    changed({ tier: { price: { input: 1 } } }),
    `tiers.nano.price.output ${notUsd}.`,
  ],
  [
    "a price in words",
    changed({ tier: { price: { input: "1", output: 1 } } }),
    `tiers.nano.price.input ${notUsd}.`,
  ],
  [
    "a price below 0",
    changed({ tier: { price: { input: 1, output: 1, cacheRead: -1 } } }),
    `tiers.nano.price.cacheRead ${notUsd}.`,
  ],
  [
    "a price of one token",
    changed({ tier: { price: { input: 0.00000015, output: 1 } } }),
    "tiers.nano.price.input is the price of one token; set US dollars per million tokens, here 0.15.",
  ],
  [
    "a price of one token for a long input",
    changed({
      tier: { price: { input: 1, output: 1, fromInputTokens: [{ inputTokens: 9, output: 1e-6 }] } },
    }),
    "tiers.nano.price.fromInputTokens[0].output is the price of one token; set US dollars per million tokens, here 1.",
  ],
  [
    "a price with another unit",
    changed({ tier: { price: { inputUsdPerMillionTokens: 1, output: 1 } } }),
    `tiers.nano.price.input ${notUsd}.`,
  ],
  [
    "a number of retries that is none",
    changed({ tier: { maxRetries: 1.5 } }),
    "tiers.nano.maxRetries is not a whole number from 0 to 10.",
  ],
  [
    "a limit below 0",
    changed({ tier: { idleTimeoutMs: -1 } }),
    "tiers.nano.idleTimeoutMs is not a whole number from 0 to 86400000.",
  ],
  [
    "a limit that is a text",
    changed({ tier: { timeoutMs: "60s" } }),
    "tiers.nano.timeoutMs is not a whole number from 0 to 86400000.",
  ],
  [
    "an alias without a meaning",
    { aliases: { "gpt-4o": null } },
    'aliases["gpt-4o"] is not the name of a model, such as qwen3:4b.',
  ],
];

test.each(wrong)("rejects %s", async (_situation, file, problem) => {
  expect(await messageOf(readConfig(file))).toBe(`router.config.json: ${problem}`);
});

test("a gateway without a key is rejected", async () => {
  const file = { upstreams: { gateway: { type: "gateway" } } };
  expect(await messageOf(readConfig(file, { AI_GATEWAY_API_KEY: " " }))).toBe(
    "router.config.json: upstreams.gateway.apiKeyEnv is missing, and AI_GATEWAY_API_KEY is not set.",
  );
});

const deep = 10_000;
const hostile: [situation: string, text: string, problem: string][] = [
  [
    "lists 10,000 deep",
    `{"tiers":${"[".repeat(deep)}${"]".repeat(deep)}}`,
    "tiers is not an object.",
  ],
  [
    "objects 10,000 deep",
    `{"aliases":${'{"a":'.repeat(deep)}1${"}".repeat(deep)}}`,
    "aliases.a is not the name of a model, such as qwen3:4b.",
  ],
  ["a file __proto__", '{"__proto__":{"aliases":{}}}', `__proto__ ${fieldsOfFile}.`],
  [
    "an upstream __proto__",
    JSON.stringify({ upstreams: { local } }).replace("local", "__proto__"),
    "upstreams has the name __proto__.",
  ],
  ["an alias __proto__", '{"aliases":{"__proto__":"auto"}}', "aliases has the name __proto__."],
  [
    "a tier __proto__",
    '{"tiers":{"__proto__":{}}}',
    "tiers.__proto__ is not a known field; the fields are nano, fast, balanced, frontier.",
  ],
  [
    "a number over all numbers",
    `{"upstreams":${JSON.stringify({ local })},"tiers":{"nano":{"upstream":"local","model":"m","timeoutMs":1e999}}}`,
    "tiers.nano.timeoutMs is not a whole number from 0 to 86400000.",
  ],
  [
    "an upstream's inherited name",
    '{"tiers":{"nano":{"upstream":"constructor","model":"m"}}}',
    'tiers.nano.upstream "constructor" is not one of upstreams: none is defined.',
  ],
];

test.each(hostile)("rejects %s", async (_situation, text, problem) => {
  expect(await messageOf(readConfig(text))).toBe(`router.config.json: ${problem}`);
});

test("a message has at most one short line, whatever the names in the file", async () => {
  const names = ["a".repeat(5_000_000), "\u001b[31mred", "\ud800", "a\nb", "\u202eb"];
  for (const name of names) {
    for (const file of [{ [name]: 1 }, { upstreams: { [name]: 1 } }, { aliases: { [name]: 1 } }]) {
      expect((await messageOf(readConfig(file))).length).toBeLessThan(400);
      expect(await messageOf(readConfig(file))).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
    }
  }
});
