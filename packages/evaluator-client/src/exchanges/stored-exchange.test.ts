import { expect, test } from "vitest";
import { scrubResponse } from "./stored-exchange.ts";

test("ids of the service and of accounts are counted, the same id gets the same name", () => {
  const scrubbed = scrubResponse({
    status: 200,
    headers: { "x-typesafe-request-id": "req_01ABCDEFGH2345", "x-request-id": "iad1::abc" },
    body: {
      generationId: "gen_01ABCDEFGH2345",
      id: "chatcmpl-1",
      note: ["see gen_01ABCDEFGH2345 and req_01ABCDEFGH2345"],
      account: { teamId: "team-7", user_id: "someone", apiKeyId: "k1", accountId: 12 },
    },
  });
  expect(scrubbed).toEqual({
    status: 200,
    headers: { "x-typesafe-request-id": "req_recorded0001", "x-request-id": "id_recorded0002" },
    body: {
      generationId: "gen_recorded0003",
      id: "id_recorded0004",
      note: ["see gen_recorded0003 and req_recorded0001"],
      account: {
        teamId: "id_recorded0005",
        user_id: "id_recorded0006",
        apiKeyId: "id_recorded0007",
        accountId: 12,
      },
    },
  });
});

test("everything else stays as it is", () => {
  const response = {
    status: 200,
    headers: { "content-type": "application/json" },
    body: {
      originalModelId: "typesafe-ai/jev",
      answers: { user_id: { choice: "gen_01ABCDEFGH", probabilities: { gen_01ABCDEFGH: 1 } } },
      generation: "gen_",
      empty: [null, true, {}],
    },
  };
  expect(scrubResponse(response)).toEqual(response);
});
