import { expect, test } from "vitest";
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
      "boolean",
      "booleanAnswerSchema",
      "booleanQuestionSchema",
      "checkAnswers",
      "choice",
      "choiceAnswerSchema",
      "choiceQuestionSchema",
      "createEvaluator",
      "createPacer",
      "directTransport",
      "evaluationRequestSchema",
      "evaluationResponseSchema",
      "gatewayTransport",
      "questionSchema",
      "score",
      "scoreAnswerSchema",
      "scoreQuestionSchema",
    ]
  `);
});
