import { questionHash } from "evaluator-calibration";
import { boolean, choice, gatewayTransport, score } from "evaluator-client";
import { createEmulator } from "evaluator-emulator";
import { temporaryFolder } from "evaluator-kit/testing";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openJournal, readAnswers, runRecords } from "../index.ts";
import { parseKeptQuestions } from "./kept-questions.ts";

const questions = {
  month: choice({ ask: "Which month?" }, [
    ["3", "March"],
    ["x", null],
    ["1", { "2": "b", "1": "a" }],
  ]),
  ["__proto__"]: choice("Which?", [
    ["10", "ten"],
    ["9", "nine"],
  ]),
  importance: score("How important?", ["low", "high"]),
  scam: boolean("Scam?", { true: "a lie", false: "a truth" }),
};

test("options keep the order in which they were asked", () => {
  const read = parseKeptQuestions(JSON.stringify(questions));
  expect(JSON.stringify(read)).toBe(JSON.stringify(questions));
  expect(Object.keys(read)).toEqual(Object.keys(questions));
});

test("a journal gives back the questions that were asked, with the hash of their promises", async () => {
  const path = join(await temporaryFolder(), "t.sqlite");
  const { fetch } = createEmulator();
  const transport = gatewayTransport({ apiKey: "local", env: {}, fetch });
  {
    using journal = openJournal(path, { questions, transport });
    await runRecords([{ id: "a", state: "In March" }], { journal, transport });
  }
  const hashes = [...readAnswers(path)].map((kept) => questionHash(kept.questions));
  expect(hashes).toEqual([questionHash(questions)]);
});
