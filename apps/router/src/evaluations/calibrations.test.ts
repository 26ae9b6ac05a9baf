import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type CalibrationArtifact, questionHash } from "evaluator-calibration";
import { boolean, type Questions } from "evaluator-client";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { calibrationOf } from "../testing/calibration-of.ts";
import { asked, gatewayAnswer, map, post, predicate, state } from "../testing/evaluation-calls.ts";
import { testRouter } from "../testing/test-router.ts";
import { readCalibrations } from "./calibrations.ts";

const model = "typesafe-ai/jev";
const { kind, scam } = asked;

/** A calibration of a question: a temperature of 2, and a promise. */
function artifactOf(questions: Questions, question: string, differences: object = {}) {
  const isChoice = questions[question]?.type === "choice";
  const logistic = { kind: "logistic", parameters: { intercept: 0, slope: 0.5 } };
  const action = isChoice ? "top" : "no";
  const promise = { threshold: 0.7, maxRisk: 0.05, confidence: 0.95, n: 200, wrong: 2 };
  return {
    ...calibrationOf(model),
    ...(!isChoice && logistic),
    question,
    questionHash: questionHash(questions),
    thresholds: [{ question, action, ...promise }],
    ...differences,
  } as CalibrationArtifact;
}

function routerWith(artifacts: readonly CalibrationArtifact[]) {
  const calibrations = Map.groupBy(artifacts, ({ questionHash: hash }) => hash ?? "");
  const evaluation = async (request: Request) => {
    const { questions } = (await request.json()) as { questions: object };
    const known = Object.entries(gatewayAnswer().answers);
    const answers = Object.fromEntries(known.filter(([id]) => id in questions));
    return Response.json(gatewayAnswer({ answers }));
  };
  return testRouter({ evaluation }, { calibrations });
}

test("a question with a calibration gets corrected probabilities, the printed ones and the promise", async () => {
  const router = await routerWith([artifactOf({ kind }, "kind")]);
  const questions = { kind: map.kind };
  const { headers, body } = await post(router, "/v1/systemone", { state, questions });
  const printed = { type: "choice", choice: "prize", probabilities: { prize: 0.7, other: 0.3 } };
  expect(body).toMatchObject({
    answers: { kind: { choice: "prize", probabilities: { prize: expect.closeTo(0.604, 3) } } },
    x_printed: { kind: printed },
  });
  expect(JSON.stringify(body)).not.toContain("confidence");
  const promise = "act prize at 0.70: at most 5 % wrong, 95 %";
  expect(headers.get("x-router-promise")).toBe(promise);
  const gateway = await post(router, "/v4/ai/decision-model", { state, questions: { kind } });
  expect(gateway.body).toMatchObject({
    providerMetadata: { router: { printed: { kind: printed } } },
  });
});

test("each question of a call is looked up alone, and the header says what each one has", async () => {
  const router = await routerWith([
    artifactOf({ kind }, "kind", { model: { id: "another/model" } }),
    artifactOf({ scam: boolean("What is it?") }, "scam"),
  ]);
  const { headers, body } = await post(router, "/v1/systemone", { state, questions: map });
  expect(headers.get("x-router-promise")).toBe(
    "scam: act no at 0.70: at most 5 % wrong, 95 %; kind: none, the calibration is of another model; level: none, no calibration is of this question",
  );
  expect(body).toMatchObject({
    answers: { kind: { probabilities: { prize: 0.7 }, confidence: 0.2 } },
  });
});

test("a calibration of all questions together goes before those of one", async () => {
  const router = await routerWith([artifactOf(asked, "kind"), artifactOf({ scam }, "scam")]);
  const { headers } = await post(router, "/v1/systemone", { state, questions: map });
  expect(headers.get("x-router-promise")).toMatch(
    /^scam: none, no-promise; kind: act prize .*; level: none, no-promise$/,
  );
});

test("an option of any text is harmless in the header, and OpenAI's form has the printed answers", async () => {
  const router = await routerWith([artifactOf({ scam: boolean("What is it?") }, "scam")]);
  const { headers, body } = await post(router, "/v1/decisions", {
    input: state,
    questions: [predicate],
  });
  expect(headers.get("x-router-promise")).toBe("act no at 0.70: at most 5 % wrong, 95 %");
  expect(body).toMatchObject({ x_printed: [{ name: "scam", probability: 0.25 }] });
});

test("a file without the hash of its questions is refused by its name", async () => {
  const path = join(await temporaryFolder(), "calibration.json");
  await writeFile(path, JSON.stringify(artifactOf({ kind }, "kind", { questionHash: null })));
  await expect(readCalibrations([path])).rejects.toThrow("has no question hash");
  await writeFile(path, JSON.stringify(artifactOf({ kind }, "kind")));
  expect([...(await readCalibrations([path])).keys()]).toEqual([questionHash({ kind })]);
});
