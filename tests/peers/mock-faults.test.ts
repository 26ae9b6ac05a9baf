import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { boolean, choice, createEvaluator, directTransport, score } from "evaluator-client";
import { describe, expect, test } from "vitest";
import { installEnvironment } from "./environments.ts";
import { PeerServer } from "./servers.ts";

// The mock server of jevcompat breaks one rule of the vendor's API on purpose. Each fault is refused with
// the rule that it broke, or it does no harm, for the reason named here.

const questions = {
  "scam.1": boolean("Is it a scam?"),
  kind: choice("Which?", { Prize: "a lottery", Prüfung: "an exam", other: "the rest" }),
  level: score("How bad?", ["fine", "odd", "fraud"]),
  country: choice("Which?", Object.fromEntries(countries().map((name) => [name, `in ${name}`]))),
  urgency: score("How soon?", ["never", "a year", "a month", "a week", "a day", "an hour", "now"]),
};

function countries(): string[] {
  return Array.from({ length: 100 }, (_, index) => `country ${index}`);
}

/** Refused: the class of the error, and the rule or status. */
const refusals: Readonly<Record<string, readonly [name: string, detail: RegExp]>> = {
  "wrong-route": ["StatusError", /answered 404/],
  "xssi-200": ["ConnectionError", /not whole JSON/],
  // `apiKey: null` sends no header.
  "auth-rejects-header": ["AuthenticationError", /answered 401/],
  "auth-x-api-key": ["AuthenticationError", /answered 403/],
  "reject-jev-latest": ["StatusError", /Model not served/],
  "first-question-only": ["InvalidResponseError", /rule answer-ids/],
  "strict-ids": ["StatusError", /Question id must match/],
  "nfd-keys": ["InvalidResponseError", /rule (choice-option|probabilities-keys)/],
  "cap-64": ["StatusError", /at most 64/],
  "cap-5-levels": ["StatusError", /at most 5/],
  "extra-answer": ["InvalidResponseError", /rule answer-ids/],
  "boolean-type": ["InvalidResponseError", /rule probabilities-range/],
  nan: ["ConnectionError", /not whole JSON/],
  "noul-range": ["InvalidResponseError", /rule probabilities-range/],
  "choice-key-case": ["InvalidResponseError", /rule (choice-option|probabilities-keys)/],
  "choice-sum": ["InvalidResponseError", /rule probabilities-sum/],
  "choice-second": ["InvalidResponseError", /rule choice-highest/],
  "score-keys-1-based": ["InvalidResponseError", /rule probabilities-keys/],
  "score-sum": ["InvalidResponseError", /rule probabilities-sum/],
  "score-argmax": ["InvalidResponseError", /rule score-mean/],
};

const notSent = "the client sends no such request";
const errorOnly = "only error bodies differ, and the status decides";
const severalCalls = "one answer cannot show it; `audit` and `drift` compare many";
/** Survived: why no answer is wrong. */
const harmless: Readonly<Record<string, string>> = {
  "plain-content-type": "the body is read as JSON whatever its label",
  "text-errors": errorOnly,
  "auth-plain": errorOnly,
  "auth-invalid-403-text": errorOnly,
  "validation-400": errorOnly,
  "error-flat": errorOnly,
  "models-404": "evaluations do not read the list of models",
  "reject-array-state": "the state here is a text",
  "forbid-extra": notSent,
  "string-only-text": "instructions here are texts",
  "noul-two-sided": notSent,
  "noul-needs-instructions": notSent,
  "no-null-description": notSent,
  "accept-map-score": notSent,
  "500-on-unknown-type": notSent,
  "accept-boolean": notSent,
  "no-usage": "`usage` is null, never 0",
  "float-usage": "whole floats are integers in JSON",
  "unprefixed-extra": "unknown fields stay in `raw`",
  "choice-no-confidence": "`confidence` is null",
  "confidence-over": "`confidence` is null above 1",
  "confidence-margin": "the formula is not published, so no client can check it",
  "score-no-legend": "levels are read by index",
  "legend-1-based": "levels are read by index; the legend stays in `providerMetadata`",
  "id-leaks": severalCalls,
  "batch-leaks": severalCalls,
  "order-leaks": severalCalls,
};

const installed = await installEnvironment("clients");

async function outcome(bin: string, fault: string | null) {
  const key = fault === "auth-rejects-header" ? [] : ["--key", "any"];
  const faults = fault === null ? [] : ["--fault", fault];
  const command = ["jevcompat", "mock", "--port", "PORT", ...key, ...faults];
  await using server = await PeerServer.start(bin, command);
  const transport = directTransport({ baseUrl: server.origin, apiKey: "any" });
  const evaluator = createEvaluator({ transport, maxRetries: 0 });
  return await evaluator.evaluate({ state: "You have won the lottery", questions }).then(
    ({ confidence, usage }) => ({ confidence, usage, error: null }),
    (error: Error) => ({ confidence: null, usage: null, error }),
  );
}

describe.runIf("bin" in installed)("jevcompat mock", () => {
  const bin = "bin" in installed ? installed.bin : "";

  test("the table has each of its faults", async () => {
    const { stdout } = await promisify(execFile)(join(bin, "jevcompat"), ["mock", "--list-faults"]);
    const names = stdout
      .trim()
      .split("\n")
      .map((line) => line.split(" ")[0] ?? "");
    expect(Object.keys({ ...refusals, ...harmless }).toSorted()).toEqual(names.toSorted());
  });

  test("without a fault, all questions are answered", async () => {
    expect(await outcome(bin, null)).toMatchObject({ error: null, usage: { outputTokens: 10 } });
  });

  test.each(Object.entries(refusals))("%s is refused: %j", async (fault, [name, detail]) => {
    const { error } = await outcome(bin, fault);
    expect([error?.name, error?.message]).toEqual([name, expect.stringMatching(detail)]);
  });

  test.each(Object.entries(harmless))("%s does no harm: %s", async (fault) => {
    expect(await outcome(bin, fault)).toMatchObject({ error: null });
  });

  test("fields that cannot be right are null", async () => {
    expect(await outcome(bin, "confidence-over")).toMatchObject({
      confidence: { kind: null, level: null },
    });
    expect(await outcome(bin, "no-usage")).toMatchObject({ usage: null });
  });
});
