import { registerHooks } from "node:module";

// Prints which of the dear modules are loaded at the import of the client, and at its first call.
const dear = new Set<string>();
registerHooks({
  load(url, context, next) {
    if (url === "node:http2") dear.add("http2");
    if (url.includes("/node_modules/undici/")) dear.add("undici");
    const [name] = /(?:direct-calls|label-calls|catalog-replies)\.ts$/.exec(url) ?? [];
    if (name !== undefined) dear.add(name);
    return next(url, context);
  },
});
const print = (when: string) => process.stdout.write(`${when}: ${[...dear].join(" ")}\n`);
const { boolean, createEvaluator, directTransport, gatewayTransport, logprobsTransport } =
  await import("../index.ts");
print("imported");
const baseUrl = "http://127.0.0.1:9";
const options = { apiKey: "k", baseUrl, env: {}, model: "m" };
const transports = {
  gateway: () => gatewayTransport({ apiKey: "k", baseUrl, env: {} }),
  direct: () => directTransport(options),
  logprobs: () => logprobsTransport(options),
};
for (const toTransport of Object.values(transports)) {
  await createEvaluator({ transport: toTransport() }).close();
}
print("closed unused");
for (const [name, toTransport] of Object.entries(transports)) {
  const evaluator = createEvaluator({ transport: toTransport(), maxRetries: 0 });
  await evaluator
    .evaluate({ state: "text", questions: { sure: boolean("Sure?") } })
    .catch(() => null);
  print(name);
}
