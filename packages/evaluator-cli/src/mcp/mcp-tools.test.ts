import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { run } from "../testing/run.ts";
import { connectTo, startHttp } from "../testing/start-mcp.ts";

const claimed = "The service claims they are calibrated";
const unknown = "Whether this server's are calibrated is unknown";
const uncalibrated = "A chat model's are not calibrated";
const vendorKey = { EVALUATOR_DIRECT_API_KEY: "v" };
const local = "127.0.0.1:9";

test.each([
  ["gateway", {}, claimed, "paid away"],
  ["gateway@typesafe-ai/jev-2", {}, claimed, "paid away"],
  ["gateway@maker/judge", {}, unknown, "paid away"],
  ["gateway=https://gateway.example/v4/ai", {}, unknown, "paid away"],
  ["gateway", { EVALUATOR_BASE_URL: `http://${local}/v4/ai` }, unknown, "paid here"],
  [`gateway=http://${local}/v4/ai,key=none`, {}, unknown, "free here"],
  ["direct", vendorKey, claimed, "paid away"],
  ["direct=https://own.example", vendorKey, unknown, "paid away"],
  [`direct=http://localhost:9`, {}, unknown, "free here"],
  [`direct=http://${local}`, vendorKey, unknown, "paid here"],
  [`decisions=http://${local}@m`, {}, unknown, "free here"],
  ["decisions=https://own.example@m", vendorKey, unknown, "paid away"],
  [`logprobs=http://${local}@m`, {}, uncalibrated, "free here"],
  [`logprobs=http://[::1]:9@m`, {}, uncalibrated, "free here"],
  [`logprobs=http://${local}@m,price=1`, {}, uncalibrated, "paid here"],
  [
    `logprobs=http://${local}@m`,
    { EVALUATOR_USD_PER_MILLION_TOKENS: "1" },
    uncalibrated,
    "paid here",
  ],
  [`logprobs=http://${local}@m`, { EVALUATOR_LOGPROBS_API_KEY: "k" }, uncalibrated, "paid here"],
  ["logprobs=http://192.0.2.1@m", {}, uncalibrated, "paid away"],
] as const)("an assistant is told the truth of %s with %j", async (engine, env, claim, effect) => {
  const url = await startHttp(["--engine", engine], { AI_GATEWAY_API_KEY: "g", ...env });
  const client = await connectTo(url);
  const { tools } = await client.listTools();
  const [isPaid, isAway] = [effect.startsWith("paid"), effect.endsWith("away")];
  const [evaluate, ...others] = tools;
  for (const text of [client.getInstructions(), evaluate?.description]) {
    const told = [claimed, unknown, uncalibrated].filter((one) => text?.includes(one));
    expect(told).toEqual([claim]);
  }
  expect(evaluate?.annotations).toEqual({
    readOnlyHint: !isPaid,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: isAway,
  });
  expect(evaluate?.description?.includes("a call may cost money")).toBe(isPaid);
  expect(evaluate?.description?.includes("Sends the state to")).toBe(isAway);
  // These send no state and cost nothing; only the gateway lists its models.
  const asksAway = isAway && engine.startsWith("gateway");
  for (const { annotations } of others) {
    expect(annotations).toEqual({ readOnlyHint: true, openWorldHint: asksAway });
  }
});

test.each([
  [[`logprobs=http://${local}@m,price=0.000000042`], {}],
  [[`logprobs=http://${local}@m`, "--price", "0.000000042"], {}],
  [[`logprobs=http://${local}@m`], { EVALUATOR_USD_PER_MILLION_TOKENS: "0.000000042" }],
])("the price of one token is refused: %j %j", async (words, env) => {
  const { exitCode, stderr } = await run(await temporaryFolder(), ["mcp", "--engine", ...words], {
    env,
  });
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/one token; set US dollars .* here 0\.042\./);
});
