import { expect, test } from "vitest";
import { budgetRouter } from "../testing/budget-router.ts";
import {
  answering,
  instructions,
  map,
  noul,
  post,
  predicate,
  state,
} from "../testing/evaluation-calls.ts";
import { testRouter } from "../testing/test-router.ts";
import { evaluationForms } from "../evaluations/evaluation-forms.ts";

const deep = `${"[".repeat(5000)}${"]".repeat(5000)}`;

test.each([
  ["{", null],
  [
    `{"state":${deep},"questions":{"a":{"type":"noul","instructions":"x"}}}`,
    `state${".0".repeat(7)}`,
  ],
  [`{"state":{"order":[1,9007199254740993]},"questions":${JSON.stringify(map)}}`, "state.order.1"],
  [{ questions: map }, "state"],
  [{ state: 7, questions: map }, "state"],
  [{ state: [], questions: map }, "state"],
  [{ state }, "questions"],
  [{ state, questions: {} }, "questions"],
  [{ state, questions: { a: 1 } }, "questions.a"],
  [{ state, questions: { a: { type: "bax" } } }, "questions.a.type"],
  [{ state, questions: { a: { type: "noul" } } }, "questions.a.instructions"],
  [{ state, questions: { a: { type: "noul", instructions: 1 } } }, "questions.a.instructions"],
  [{ state, questions: { a: { type: "choice", instructions } } }, "questions.a.criteria"],
  [{ state, questions: { a: { ...map.level, criteria: [null, "x"] } } }, "questions.a.criteria.0"],
  [{ state, questions: { a: { ...map.kind, criteria: {} } } }, "questions.a"],
  [{ model: 7, state, questions: map }, "model"],
  [{ state, questions: map, assets: { a: {} } }, "assets.a"],
] as const)(
  "a wrong body of the vendor's form is 4xx and quotes no state: %j",
  async (body, at) => {
    const router = await answering();
    const reply = await post(router, "/v1/systemone", body);
    const loc = at === null ? null : ["body", ...at.split(".")];
    expect(reply.status).toBe(at === null ? 400 : 422);
    expect(reply.body).toMatchObject(
      loc === null
        ? { detail: { error_type: "api_usage_error" } }
        : {
            detail: [
              {
                loc: loc.map((key) =>
                  key === "1" || (key === "0" && !at?.startsWith("state.")) ? Number(key) : key,
                ),
              },
            ],
          },
    );
    expect(JSON.stringify(reply.body)).not.toContain("lottery");
    expect(router.seen).toEqual([]);
  },
);

test.each([
  [{ input: 7, questions: [predicate] }, "input"],
  [{ input: [], questions: [predicate] }, "input"],
  [
    { input: [{ role: "user", content: [{ type: "input_file" }] }], questions: [predicate] },
    "input.0.content.0",
  ],
  [{ input: state }, "questions"],
  [{ input: state, questions: [] }, "questions"],
  [{ input: state, questions: [{ type: "toString" }] }, "questions.0.type"],
  [{ input: state, questions: [{ type: "predicate" }] }, "questions.0.instructions"],
  [
    {
      input: state,
      questions: [
        { ...predicate, instructions: [{ type: "input_image", image_url: "https://a" }] },
      ],
    },
    "questions.0.instructions.0",
  ],
  [{ input: state, questions: [{ ...predicate, name: 1 }] }, "questions.0.name"],
  [{ input: state, questions: [{ type: "choice", instructions }] }, "questions.0.choices"],
  [
    { input: state, questions: [{ type: "choice", instructions, choices: [{ value: 1 }] }] },
    "questions.0.choices.0.value",
  ],
  [
    {
      input: state,
      questions: [{ type: "choice", instructions, choices: [{ value: "a" }, { value: "a" }] }],
    },
    "questions.0.choices",
  ],
  [
    { input: state, questions: [{ type: "score", instructions, levels: [{}] }] },
    "questions.0.levels.0.label",
  ],
])("a wrong body of OpenAI's form is a 400 that names the field: %j", async (body, param) => {
  const router = await answering();
  const reply = await post(router, "/v1/decisions", body);
  expect(reply).toMatchObject({
    status: 400,
    body: { error: { param, type: "invalid_request_error" } },
  });
  expect(JSON.stringify(reply.body)).not.toContain("lottery");
  expect(router.seen).toEqual([]);
});

test("a state above the service's limit is refused with the limit in every form, and asks nothing", async () => {
  for (const { path, fieldStatus } of evaluationForms) {
    const router = await budgetRouter(100);
    const type = path.startsWith("/v4") ? "boolean" : "noul";
    const questions = { scam: { type, instructions } };
    const response = await router.post(path, { state: `${state} `.repeat(8000), questions });
    expect(response.status).toBe(path === "/v1/decisions" ? 400 : (fieldStatus ?? 400));
    const said = await response.text();
    expect(said).toContain("more than the 32,000 tokens that the service gateway reads");
    expect(said).not.toContain("lottery");
    expect(router.seen).toEqual([]);
    expect(await router.spent()).toMatchObject({ dayNano: 0, reservedNano: 0 });
  }
});

test("an answer that breaks a rule is a 502 with the rule, in every form", async () => {
  const answers = { scam: { type: "boolean", probability: 1.5 } };
  for (const { path } of evaluationForms) {
    const router = await answering({ answers });
    const type = path.startsWith("/v4") ? "boolean" : "noul";
    const questions = { scam: { type, instructions } };
    const reply = await post(router, path, { state, questions });
    expect(reply.status).toBe(502);
    expect(JSON.stringify(reply.body)).toContain("(rule probabilities-range)");
    expect(reply.headers.get("x-should-retry")).toBe("false");
  }
});

test.each([
  [400, 400],
  [401, 502],
  [402, 502],
  [403, 502],
  [404, 404],
  [413, 413],
  [422, 400],
  [429, 429],
  [500, 502],
  [503, 502],
  [529, 429],
])("a service's %d is %d for the client", async (status, expected) => {
  const evaluation = () => Response.json({ error: { message: "No.", type: "other" } }, { status });
  const router = await testRouter({ evaluation });
  const { status: given, body } = await post(router, "/v1/systemone", { state, questions: map });
  expect(given).toBe(expected);
  expect(body).toMatchObject({ detail: { error_type: expect.any(String) } });
});

test("a key without decisions gets a 403, and asks nothing", async () => {
  const router = await budgetRouter(null, {}, { key: { decisions: false } });
  const { status } = await router.post("/v1/systemone", { state, questions: { scam: noul } });
  expect(status).toBe(403);
  expect(router.seen).toEqual([]);
});

test("the key is needed, and an unknown one gets the form of the route", async () => {
  const router = await budgetRouter(1);
  const response = await router.post("/v1/systemone", {}, { authorization: "Bearer wrong" });
  expect(response.status).toBe(401);
  expect(await response.json()).toMatchObject({ detail: { error_type: "authentication_error" } });
});

test("a body that is no JSON, and a box at a service without images, ask nothing", async () => {
  const router = await testRouter({});
  const form = { "content-type": "multipart/form-data; boundary=x" };
  const init = { method: "POST", headers: form, body: "--x--" };
  expect((await router.request("/v1/systemone", init)).status).toBe(415);
  const cup = { type: "box", instructions: "the cup" };
  const { status, body } = await post(router, "/v1/systemone", { state, questions: { cup } });
  expect(status).toBe(422);
  expect(body).toMatchObject({ detail: [{ loc: ["body", "questions", "cup"] }] });
  expect(router.seen).toEqual([]);
});
