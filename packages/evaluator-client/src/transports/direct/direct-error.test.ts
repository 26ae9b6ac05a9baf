import { expect, test } from "vitest";
import { createEvaluator } from "../../create-evaluator.ts";
import { emailRequest } from "../../testing/email-evaluation.ts";
import { directTransport } from "./direct-transport.ts";

type Answer = [status: number, body: unknown, headers?: Record<string, string>];

const check = "Check the request against the service's documentation.";

test.each<[Answer, string, object]>([
  [
    [400, { detail: { error_type: "max_tokens_exceeded" } }],
    "The vendor's API answered 400 (max_tokens_exceeded). The state and its questions are too long: at most 32k tokens for the state with the longest question, 64k in all. Cut the state or ask fewer questions.",
    { name: "StatusError", type: "max_tokens_exceeded" },
  ],
  [
    [
      400,
      { detail: { error_type: "unknown_model", message: "No such model." } },
      { "x-request-id": "r1" },
    ],
    `The vendor's API answered 400 (unknown_model): "No such model." ${check}`,
    { name: "StatusError", type: "unknown_model", requestId: "r1", generationId: null },
  ],
  [
    [
      422,
      {
        detail: [
          { loc: ["body", 0, "a"], msg: "Missing" },
          { loc: ["b"], msg: "Wrong" },
        ],
      },
    ],
    `The vendor's API answered 422: "body.0.a: Missing; b: Wrong" ${check}`,
    { name: "StatusError", type: null },
  ],
  [
    [402, { detail: "No credits." }],
    'The vendor\'s API answered 402: "No credits." Add credits to the account.',
    { name: "StatusError", needsPaidCredits: true },
  ],
  [
    [429, { detail: "Slow down." }],
    'The vendor\'s API answered 429: "Slow down." Wait, or send fewer requests at once.',
    { name: "RateLimitError", needsPaidCredits: false },
  ],
  [
    [403, {}],
    "The vendor's API answered 403. Check the key, and that it may use this model.",
    { name: "AuthenticationError", requestId: null },
  ],
  ...[{ error_type: 7 }, { message: "No." }, [{ msg: "No." }], [{ loc: ["a"] }], 7].map(
    (detail): [Answer, string, object] => [
      [400, { detail }],
      `The vendor's API answered 400. ${check}`,
      { name: "StatusError", type: null },
    ],
  ),
])("tells of the vendor's %j", async (answer, message, fields) => {
  const [status, body, headers = {}] = answer;
  const fetch = async () => Response.json(body, { status, headers });
  const transport = directTransport({ apiKey: "a-vendor-key", fetch });
  const asked = createEvaluator({ transport, maxRetries: 0 }).evaluate(emailRequest);
  await expect(asked).rejects.toMatchObject({ message, ...fields });
});
