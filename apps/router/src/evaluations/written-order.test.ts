import { expect, test } from "vitest";

import { gatewayAnswer, post } from "../testing/evaluation-calls.ts";
import { testRouter } from "../testing/test-router.ts";

const options = '{"3":"March","x":null,"10":{"2":"b","1":"a"},"1":"January"}';
const choice = `{"type":"choice","instructions":"Which month?","criteria":${options}}`;
const month = {
  type: "choice",
  choice: "3",
  probabilities: { "1": 0, "3": 1, "10": 0, x: 0 },
};

/** Posts a body to a router, and returns what reached the gateway, as text, and the reply. */
async function sent(path: string, body: string, answers: object = { month }) {
  const bodies: string[] = [];
  const router = await testRouter({
    evaluation: async (request: Request) => {
      bodies.push(await request.text());
      return Response.json(gatewayAnswer({ answers, providerMetadata: {} }));
    },
  });
  const reply = await post(router, path, body);
  return { bodies, reply, sorted: reply.headers.get("x-router-sorted") };
}

test.each([
  ["/v1/systemone", `{"state":"s","questions":{"month":${choice}}}`],
  ["/v1/decisions", `{"state":"s","questions":{"month":${choice}}}`],
  ["/v1/decisions", `{"input":"s","questions":{"month":${choice}}}`],
  ["/v4/ai/evaluation-model", `{"state":"s","questions":{"month":${choice}}}`],
  [
    "/v4/ai/decision-model",
    `{"stateParts":[{"type":"text","text":"s"}],"questions":{"month":${choice}}}`,
  ],
])("%s sends options in the order of the body: %s", async (path, body) => {
  const { bodies, reply, sorted } = await sent(path, body);
  expect(reply).toMatchObject({ status: 200, body: { answers: { month: { choice: "3" } } } });
  const [text = ""] = bodies;
  const json = String.raw`"{\"1\":\"a\",\"2\":\"b\"}"`;
  expect(text).toContain(`"criteria":{"3":"March","x":"","10":${json},"1":"January"}`);
  // The description of JSON is not in its order.
  expect(sorted).toBe("questions");
});

test("x-router-sorted names the fields where JavaScript sorted names", async () => {
  const one = '{"type":"boolean","instructions":"Is it?"}';
  const yes = { type: "boolean", probability: 1 };
  const answers = { 2: yes, 1: yes };
  const path = "/v4/ai/evaluation-model";
  const both = `{"state":{"b":[{"2":0,"1":0}]},"questions":{"2":${one},"1":${one}}}`;
  expect((await sent(path, both, answers)).sorted).toBe("state, questions");
  const listed = (...names: readonly string[]) =>
    names.map((name) => `{"type":"predicate","name":"${name}","instructions":"Is it?"}`).join();
  const list = `{"input":"s","questions":[${listed("2", "1")}]}`;
  const reply = await sent("/v1/decisions", list, answers);
  expect(reply.sorted).toBe("questions");
  expect(reply.reply.body).toMatchObject({ answers: [{ name: "2" }, { name: "1" }] });
  const ascending = `{"input":"s","questions":[${listed("1", "2")}]}`;
  expect((await sent("/v1/decisions", ascending, answers)).sorted).toBeNull();
  const plain = `{"state":{"1":0,"2":0},"questions":{"1":${one},"2":${one}}}`;
  expect((await sent(path, plain, answers)).sorted).toBeNull();
});

test("a name that is no text is refused by its field", async () => {
  const question = '{"type":"predicate","name":{"toString":1},"instructions":"Is it?"}';
  const body = `{"input":"s","questions":[${question}]}`;
  const { bodies, reply } = await sent("/v1/decisions", body);
  expect([reply.status, bodies]).toEqual([400, []]);
  expect(JSON.stringify(reply.body)).toContain("name");
});
