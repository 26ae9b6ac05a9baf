import { keyVariables } from "evaluator-client";
import { CliError, type Environment } from "evaluator-kit";
import { expect, test } from "vitest";
import { redactor } from "./reply/redactor.ts";
import { parseRouterOptions } from "./router-options.ts";

test.each([...keyVariables, "ROUTER_REPLY_API_KEY"])(
  "the value of %s is a secret, whoever decides",
  (variable) => {
    const { secrets } = parseRouterOptions({ [variable]: "a-key-of-some-length" }).engines;
    expect(secrets).toEqual(["a-key-of-some-length"]);
  },
);

test("a short password is not shown with an address that lacks its last character", () => {
  const address = "postgres://me:pass@db.example.com/evaluator";
  const { secrets } = parseRouterOptions({ ROUTER_LIMITS: address }).engines;
  expect(secrets).toEqual([address, "postgres://me:pass@", "pass"]);
  const shown = redactor(secrets).strictly(`${address.slice(0, -1)} is down`);
  expect(shown).toBe("[secret]db.example.com/evaluato is down");
});

test("nothing set means the loopback address, port 3000, the default models and no gateway", () => {
  expect(parseRouterOptions({})).toEqual({
    host: "127.0.0.1",
    port: null,
    addressSettings: { hostSetting: "HOST=", portSetting: "PORT=" },
    accessToken: null,
    keyStore: null,
    leaseMs: 60_000,
    allowedNames: [],
    allowedOrigins: [],
    tierModels: {
      nano: "openai/gpt-5-nano",
      fast: "google/gemini-3.1-flash-lite",
      balanced: "anthropic/claude-sonnet-5.5",
      frontier: "anthropic/claude-fable-5.1",
    },
    policy: {
      minConfidence: null,
      failureTier: null,
      decisionTimeoutMs: null,
      fallbackModels: [],
      shadowModel: null,
      marksCaches: true,
    },
    config: null,
    aliases: new Map(),
    maxCallsInFlight: 256,
    clientModels: "auto",
    waiting: { idleTimeoutMs: 120_000, timeoutMs: 0 },
    pingMs: 10_000,
    keepAliveMs: 75_000,
    stallMs: 20_000,
    calibrationFile: null,
    fitFile: null,
    decisionCalibrationFiles: [],
    decisionCacheSeconds: null,
    decisionLog: null,
    hasLogText: false,
    blind: { share: 0, usdPerDay: 1 },
    hasAccessLog: true,
    sharedLimit: null,
    instance: null,
    http: {},
    traceProtocol: null,
    engines: { evaluator: null, reply: null, secrets: [] },
    warnings: [],
  });
});

const keyVariable = "AI_GATEWAY_API_KEY";
const gateway = { type: "gateway", name: "gateway", keyVariable };

test("everything can be set", () => {
  const env = {
    HOST: "0.0.0.0",
    PORT: "0",
    ROUTER_ACCESS_TOKEN: "a-token-of-many-characters",
    ROUTER_ALLOWED_HOSTS: "Router.example.com, 192.168.0.4:80",
    ROUTER_MODEL_NANO: "a/nano",
    ROUTER_MODEL_FAST: "a/fast",
    ROUTER_MODEL_BALANCED: "a/balanced",
    ROUTER_MODEL_FRONTIER: "a/frontier",
    ROUTER_MIN_CONFIDENCE: "0.6",
    ROUTER_FAILURE_TIER: "balanced",
    ROUTER_DECISION_TIMEOUT_MS: "2000",
    ROUTER_FALLBACK_MODELS: "a/fallback, a/last",
    ROUTER_PROMPT_CACHE: "off",
    ROUTER_SHADOW: "a/shadow",
    ROUTER_MAX_CALLS: "2",
    ROUTER_CLIENT_MODELS: "named",
    ROUTER_REPLY_IDLE_TIMEOUT_MS: "1000",
    ROUTER_REPLY_TIMEOUT_MS: "3600000",
    ROUTER_PING_MS: "0",
    ROUTER_KEEP_ALIVE_TIMEOUT_MS: "5000",
    ROUTER_STALL_TIMEOUT_MS: "500",
    ROUTER_CALIBRATION: "calibration.json",
    ROUTER_FIT: "fit.json",
    ROUTER_DECISION_CALIBRATION: "a.json, b.json",
    ROUTER_DECISION_CACHE: "60",
    ROUTER_DECISION_LOG: "decisions.jsonl",
    ROUTER_LOG_TEXT: "on",
    ROUTER_ACCESS_LOG: "off",
    AI_GATEWAY_API_KEY: " key\n",
    EVALUATOR_BASE_URL: "http://127.0.0.1:4000/v4/ai",
  };
  expect(parseRouterOptions(env)).toEqual({
    host: "0.0.0.0",
    port: 0,
    addressSettings: { hostSetting: "HOST=", portSetting: "PORT=" },
    accessToken: "a-token-of-many-characters",
    keyStore: null,
    leaseMs: 60_000,
    allowedNames: ["router.example.com", "192.168.0.4:80"],
    allowedOrigins: [],
    tierModels: { nano: "a/nano", fast: "a/fast", balanced: "a/balanced", frontier: "a/frontier" },
    policy: {
      minConfidence: 0.6,
      failureTier: "balanced",
      decisionTimeoutMs: 2000,
      fallbackModels: ["a/fallback", "a/last"],
      shadowModel: "a/shadow",
      marksCaches: false,
    },
    config: null,
    aliases: new Map(),
    maxCallsInFlight: 2,
    clientModels: "named",
    waiting: { idleTimeoutMs: 1000, timeoutMs: 3_600_000 },
    pingMs: 0,
    keepAliveMs: 5000,
    stallMs: 500,
    calibrationFile: "calibration.json",
    fitFile: "fit.json",
    decisionCalibrationFiles: ["a.json", "b.json"],
    decisionCacheSeconds: 60,
    decisionLog: "decisions.jsonl",
    hasLogText: true,
    blind: { share: 0, usdPerDay: 1 },
    hasAccessLog: false,
    sharedLimit: null,
    instance: null,
    http: {},
    traceProtocol: null,
    engines: {
      evaluator: env,
      reply: { ...gateway, apiKey: "key", baseUrl: "http://127.0.0.1:4000/v4/ai" },
      secrets: ["key"],
    },
    warnings: [],
  });
});

test("a blank variable counts as unset", () => {
  const env = { PORT: "", HOST: " ", AI_GATEWAY_API_KEY: "  ", ROUTER_MODEL_FAST: "" };
  expect(parseRouterOptions(env)).toEqual(parseRouterOptions({}));
});

test.each([
  [{ ROUTER_CONTEXT: "sticky" }, "ROUTER_CONTEXT"],
  [{ ROUTER_TIES: "up" }, "ROUTER_TIES"],
  [{ ROUTER_TIES: "?", ROUTER_CONTEXT: "?" }, "ROUTER_CONTEXT and ROUTER_TIES"],
])("%j changes nothing, and one warning explains it", (env, names) => {
  const warnings = [
    `${names}: no effect any more. The user's message decides, and its choice is used.`,
  ];
  expect(parseRouterOptions(env)).toEqual({ ...parseRouterOptions({}), warnings });
});

const wrong: [env: Record<string, string>, message: string][] = [
  [{ PORT: "http" }, 'PORT="http" is not a port; set it to a whole number from 0 to 65535'],
  [{ PORT: "65536" }, 'PORT="65536" is not a port'],
  [{ PORT: "-1" }, 'PORT="-1" is not a port'],
  [{ PORT: "3000.5" }, 'PORT="3000.5" is not a port'],
  [{ HOST: "0.0.0.0" }, 'HOST="0.0.0.0" is not a loopback address, and lets other machines'],
  [{ ROUTER_ALLOWED_HOSTS: "http://a" }, 'ROUTER_ALLOWED_HOSTS="http://a" is not a list of host'],
  [{ ROUTER_MIN_CONFIDENCE: "60%" }, 'ROUTER_MIN_CONFIDENCE="60%" is not a number from 0 to 1'],
  [{ ROUTER_MIN_CONFIDENCE: "1.1" }, 'ROUTER_MIN_CONFIDENCE="1.1" is not a number from 0 to 1'],
  [{ ROUTER_FAILURE_TIER: "big" }, 'ROUTER_FAILURE_TIER="big" is none of nano, fast,'],
  [{ ROUTER_DECISION_TIMEOUT_MS: "0" }, 'ROUTER_DECISION_TIMEOUT_MS="0" is not a time'],
  [{ ROUTER_FALLBACK_MODELS: "a/b,gpt" }, 'ROUTER_FALLBACK_MODELS="a/b,gpt" is not a model id'],
  [{ ROUTER_MAX_CALLS: "0" }, 'ROUTER_MAX_CALLS="0" is not a number of calls'],
  [{ ROUTER_STALL_TIMEOUT_MS: "1s" }, 'ROUTER_STALL_TIMEOUT_MS="1s" is not a time'],
  [
    { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc", OTEL_EXPORTER_OTLP_ENDPOINT: "http://a" },
    'OTEL_EXPORTER_OTLP_PROTOCOL="grpc" is none of http/protobuf, http/json',
  ],
  [{ ROUTER_ACCESS_LOG: "yes" }, 'ROUTER_ACCESS_LOG="yes" is none of on, off'],
  [{ ROUTER_MODEL_FAST: "gpt" }, 'ROUTER_MODEL_FAST="gpt" is not a model id'],
  [{ ROUTER_MODEL_NANO: "a/b\nc: d" }, 'ROUTER_MODEL_NANO="a/b\\nc: d" is not a model id'],
  [{ ROUTER_REPLY_BASE_URL: "127.0.0.1:80" }, "ROUTER_REPLY_BASE_URL is not an http or https URL"],
  [
    { ROUTER_REPLY_BASE_URL: "http://127.0.0.1:1" },
    "ROUTER_MODEL_NANO is not set; ROUTER_REPLY_BASE_URL wants a model of its server for each tier",
  ],
  [{ ROUTER_FALLBACK_MODELS: "tiny" }, 'ROUTER_FALLBACK_MODELS="tiny" is not a model id'],
  [{ EVALUATOR_BASE_URL: "ftp://x" }, 'EVALUATOR_BASE_URL="ftp://x" is not an http or https URL'],
];

test.each(wrong)("rejects %j in one line", (env, message) => {
  const parse = () => parseRouterOptions(env);
  expect(parse).toThrow(CliError);
  expect(parse).toThrow(message);
  expect(parse).not.toThrow(/\n/);
});

test("a protocol that other programs of a machine use stops only a router with traces by it", () => {
  const [grpc, http] = [{ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, "http/json"];
  const on = { ...grpc, OTEL_EXPORTER_OTLP_ENDPOINT: "http://a" };
  const protocolIn = (env: Environment) => parseRouterOptions(env).traceProtocol;
  expect(protocolIn(grpc)).toBeNull();
  expect(protocolIn({ ...on, OTEL_SDK_DISABLED: "true" })).toBeNull();
  expect(protocolIn({ ...on, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: http })).toBe(http);
});

test("a key that no header can carry is rejected and not shown", () => {
  const parse = () => parseRouterOptions({ AI_GATEWAY_API_KEY: "planted\nkey" });
  expect(parse).toThrow("AI_GATEWAY_API_KEY has a space, a line break");
  expect(parse).not.toThrow(/planted/);
});

test("a short or broken access token is rejected and not shown", () => {
  for (const token of ["tiny", "a token with blanks in it"]) {
    const parse = () => parseRouterOptions({ ROUTER_ACCESS_TOKEN: token });
    expect(parse).toThrow(/^ROUTER_ACCESS_TOKEN (is short|has a space)/);
    expect(parse).not.toThrow(token);
  }
});

test("a reply server's key and address are not shown when they are wrong", () => {
  for (const env of [
    { ROUTER_REPLY_API_KEY: "planted key" },
    { ROUTER_REPLY_BASE_URL: "http://me:planted@127.0.0.1/v1" },
    { ROUTER_REPLY_BASE_URL: "http://127.0.0.1/v1?key=planted" },
  ]) {
    const parse = () => parseRouterOptions(env);
    expect(parse).toThrow(/^ROUTER_REPLY_(API_KEY has a space|BASE_URL is not an http)/);
    expect(parse).not.toThrow(/planted/);
  }
});

test("a reply server's bare address is one of OpenAI's API, and its models need no provider", () => {
  const paths = { "": "/v1", "/": "/v1", "/v1/": "/v1", "/openai/v1": "/openai/v1" };
  for (const [written, path] of Object.entries(paths)) {
    const url = `http://127.0.0.1:1${written}`;
    const names = ["NANO", "FAST", "BALANCED", "FRONTIER"].map((tier) => `ROUTER_MODEL_${tier}`);
    const models = Object.fromEntries(names.map((name) => [name, name.toLowerCase()]));
    const env = { ...models, ROUTER_REPLY_BASE_URL: url, ROUTER_FALLBACK_MODELS: "spare" };
    const { engines, tierModels, policy } = parseRouterOptions(env);
    expect(engines.reply).toMatchObject({ baseUrl: `http://127.0.0.1:1${path}`, apiKey: null });
    expect(tierModels.frontier).toBe("router_model_frontier");
    expect(policy.fallbackModels).toEqual(["spare"]);
  }
});

test("the password of the keys' database is a secret, and the name of a file is none", () => {
  const secretsOf = (keys: string) => parseRouterOptions({ ROUTER_KEYS: keys }).engines.secrets;
  const address = "postgres://me:a-password@127.0.0.1/keys";
  expect(secretsOf(address)).toEqual([address, "postgres://me:a-password@", "a-password"]);
  expect(secretsOf("router-keys.json")).toEqual([]);
});
