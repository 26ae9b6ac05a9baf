import { expect, test } from "vitest";
import { parseRouterOptions } from "../router-options.ts";
import { readConfig } from "../testing/read-config.ts";

test.each([
  ["ROUTER_KEY", "Did you mean ROUTER_KEYS?"],
  ["ROUTER_TOKEN", "Did you mean ROUTER_ACCESS_TOKEN?"],
  ["ROUTER_PORT", "Did you mean PORT?"],
  ["ROUTER_BASE_URL", "Did you mean ROUTER_REPLY_BASE_URL?"],
  ["ROUTER_DECISIONS_LOG", "Did you mean ROUTER_DECISION_LOG?"],
  ["ROUTER_LOG", "Did you mean ROUTER_DECISION_LOG or ROUTER_ACCESS_LOG?"],
  ["ROUTER_MODEL", "Did you mean ROUTER_MODEL_NANO?"],
  ["ROUTER_CONFIGURATION", "Did you mean ROUTER_CONFIG?"],
  ["ROUTER_XYZ", ".env.example lists the variables."],
])("%s is no variable: %s", (name, hint) => {
  const { warnings } = parseRouterOptions({ [name]: "planted" });
  expect(warnings).toEqual([`${name} is no variable of the router and has no effect. ${hint}`]);
});

test.each([
  { ROUTER_KEYS: "keys.json", ROUTER_MODEL_NANO: "a/b", ROUTER_CONFIG: "router.json" },
  { ROUTER_PORT: "tcp://10.0.0.1:3000", ROUTER_SERVICE_PORT_HTTP: "3000" },
  { ROUTER_PORT_3000_TCP_ADDR: "10.0.0.1", ROUTER_WEB_SERVICE_HOST: "10.0.0.1" },
  { ROUTERS: "3", ROUTER_KEY: " " },
])("%j brings no warning: known, of Kubernetes, of others or blank", (env) => {
  expect(parseRouterOptions(env).warnings).toEqual([]);
});

test("a key that the file names may have any variable", async () => {
  const env = { ROUTER_CLAUDE: "planted" };
  const claude = { type: "anthropic", baseUrl: "http://127.0.0.1:9", apiKeyEnv: "ROUTER_CLAUDE" };
  const config = await readConfig({ upstreams: { claude } }, env);
  expect(parseRouterOptions(env, config).warnings).toEqual([]);
});
