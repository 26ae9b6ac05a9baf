import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import * as aiSdk from "./ai-sdk/to-decision-model.ts";
import * as publicApi from "./index.ts";

test("exports these names and no others", () => {
  expect(Object.keys(publicApi).toSorted()).toMatchInlineSnapshot(`
    [
      "AuthenticationError",
      "ConfigurationError",
      "ConnectionError",
      "EvaluatorError",
      "GatewayRateLimitError",
      "InvalidRequestError",
      "InvalidResponseError",
      "RateLimitError",
      "RefusalError",
      "StatusError",
      "TimeoutError",
      "answerSchema",
      "apiKeyVariables",
      "boolean",
      "booleanAnswerSchema",
      "booleanQuestionSchema",
      "box",
      "boxAnswerSchema",
      "boxQuestionSchema",
      "checkAnswers",
      "checkLength",
      "choice",
      "choiceAnswerSchema",
      "choiceQuestionSchema",
      "createCatalog",
      "createEvaluator",
      "createPacer",
      "cutText",
      "directTransport",
      "estimateCost",
      "estimateTextTokens",
      "estimateTokens",
      "evaluationRequestSchema",
      "evaluationResponseSchema",
      "gatewayTransport",
      "image",
      "isStateCut",
      "keyFromEnvironment",
      "keyVariables",
      "logprobsTransport",
      "memoryLimits",
      "mostCostUsd",
      "questionKinds",
      "questionSchema",
      "restOfRefusal",
      "score",
      "scoreAnswerSchema",
      "scoreQuestionSchema",
      "serviceRows",
      "services",
      "sharedPacer",
      "transportFromEnvironment",
      "truthsOf",
      "valuesOf",
      "wordingText",
    ]
  `);
});

test("the entry point for the ai package exports one name", () => {
  expect(Object.keys(aiSdk)).toEqual(["toDecisionModel"]);
});

test("an import loads no connections and no services; a first call does", async () => {
  const program = fileURLToPath(new URL("testing/loaded-modules-program.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program]);
  expect(stdout.split("\n")).toEqual([
    "imported: ",
    "closed unused: ",
    "gateway: undici http2",
    "direct: undici http2 direct-calls.ts",
    "logprobs: undici http2 direct-calls.ts label-calls.ts",
    "",
  ]);
});
