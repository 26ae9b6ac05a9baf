import { registerHooks } from "node:module";

// Prints which of the dear modules are loaded at the import of the client, and at its first call.
const dear = new Set<string>();
registerHooks({
  load(url, context, next) {
    if (url === "node:http2") dear.add("http2");
    if (url.includes("/node_modules/undici/")) dear.add("undici");
    return next(url, context);
  },
});
const print = (when: string) => process.stdout.write(`${when}: ${[...dear].join(" ")}\n`);
const { boolean, createEvaluator, gatewayTransport } = await import("../index.ts");
print("imported");
const baseUrl = "http://127.0.0.1:9";
const transport = () => gatewayTransport({ apiKey: "k", baseUrl, env: {} });
await createEvaluator({ transport: transport() }).close();
print("closed unused");
const evaluator = createEvaluator({ transport: transport(), maxRetries: 0 });
await evaluator
  .evaluate({ state: "text", questions: { sure: boolean("Sure?") } })
  .catch(() => null);
print("called");
