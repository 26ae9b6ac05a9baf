import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { artifactHash, type CalibrationArtifact, questionHash } from "evaluator-calibration";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { chatReply, startEmulator, startServer } from "../testing/engines.ts";
import { connectTo, startHttp } from "../testing/start-mcp.ts";

const question = {
  state: "You have won the lottery, claim your prize",
  questions: {
    scam: { type: "boolean", instructions: "Is it a scam?" },
    kind: { type: "choice", instructions: "Which?", criteria: { prize: "a lottery", other: "" } },
  },
};

const promise = { maxRisk: 0.05, confidence: 0.95, level: 0.05, n: 92, wrong: 1 };
// The odds of a printed 0.8 squared are 16, so it is a recalibrated 0.94.
const artifact: CalibrationArtifact = {
  version: 2,
  kind: "logistic",
  question: "scam",
  parameters: { intercept: 0, slope: 2 },
  model: { id: "local/lexical-1", wire: null },
  questionHash: questionHash(question.questions),
  rounding: { probabilityDecimals: 2 },
  fittedOn: { n: 1412, from: null, to: null, hash: "0" },
  heldOut: null,
  thresholds: [{ question: "scam", action: "yes", threshold: 0.8, ...promise }],
};

type McpClient = Awaited<ReturnType<typeof connectTo>>;

async function evaluate(client: McpClient, request: object = question) {
  const name = "evaluate";
  return (await client.callTool({ name, arguments: { ...request } })) as CallToolResult;
}

/** Asks with a calibration that differs from the fitting one in some fields. */
async function askCalibrated(fields: Partial<CalibrationArtifact> = {}) {
  const path = join(await temporaryFolder(), "calibration.json");
  const file = { ...artifact, ...fields } as CalibrationArtifact;
  await writeFile(path, JSON.stringify(file));
  const { gatewayBaseUrl } = await startEmulator();
  const words = ["--engine", `gateway=${gatewayBaseUrl}`, "--calibration", path];
  const client = await connectTo(await startHttp(words));
  return { client, file, ...(await evaluate(client)) };
}

test("with a fitting calibration, answers are calibrated and have decisions with their evidence", async () => {
  const { client, file, structuredContent } = await askCalibrated();
  expect(structuredContent).toMatchObject({
    answers: { scam: { probability: expect.closeTo(16 / 17, 9) }, kind: { choice: "prize" } },
    calibration: "calibrated on 1,412 labels",
    decisions: {
      scam: {
        act: "yes",
        evidence: { artifact: artifactHash(file), printed: 0.8, threshold: 0.8, ...promise },
      },
      kind: { act: null, why: "no-promise" },
    },
  });
  const { tools } = await client.listTools();
  for (const text of [client.getInstructions(), tools[0]?.description]) {
    expect(text).toContain("calibrated on 1,412 labels; their result has `decisions`");
  }
});

test("a decision compares the printed answer, not the calibrated one", async () => {
  const thresholds = [{ question: "scam", action: "yes" as const, threshold: 0.81, ...promise }];
  const { structuredContent } = await askCalibrated({ thresholds });
  expect(structuredContent).toMatchObject({
    answers: { scam: { probability: expect.closeTo(16 / 17, 9) } },
    decisions: { scam: { act: null, why: "below-threshold" } },
  });
});

test.each([
  ["another model", { model: { id: "local/lexical-2", wire: null } }],
  ["other questions", { questionHash: "other" }],
  ["questions that are not named", { questionHash: null }],
])("a calibration for %s gives the printed answers without decisions", async (_, fields) => {
  const { isError, structuredContent } = await askCalibrated(fields);
  expect(isError).toBeUndefined();
  expect(structuredContent).toMatchObject({
    answers: { scam: { probability: 0.8 } },
    calibration: "not calibrated",
  });
  expect(structuredContent).not.toHaveProperty("decisions");
});

test("an answer of a chat server is not calibrated, and of another's own server it is not known", async () => {
  const chat = chatReply([
    ["yes", Math.log(0.6)],
    ["no", Math.log(0.4)],
  ]);
  const answers = { scam: { type: "noul", noul: 0.6 } };
  const native = { model: "m", answers, usage: { input_tokens: 9, output_tokens: 1 } };
  const origin = await startServer({
    "/v1/chat/completions": { json: chat },
    "/v1/systemone": { json: native },
  });
  const request = { state: "x", questions: { scam: question.questions.scam } };
  const told = [`logprobs=${origin}@m`, `direct=${origin}@m`].map(async (engine) => {
    const client = await connectTo(await startHttp(["--engine", engine]));
    return (await evaluate(client, request)).structuredContent?.["calibration"];
  });
  expect(await Promise.all(told)).toEqual(["not calibrated", "not known"]);
});
