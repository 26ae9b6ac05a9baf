import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recordingTransport, sampleMail, sampleResponse } from "../testing/samples.ts";
import { folderWith, readResults, startTriage } from "../testing/start-triage.ts";

const questions = {
  needs_reply: { type: "boolean", instructions: "Does it need a reply?" },
  urgency: { type: "score", instructions: "How urgent?", criteria: ["none", "high"] },
};
const answers = {
  needs_reply: { type: "boolean", probability: 0.4 },
  urgency: { type: "score", score: 0.3, probabilities: { "0": 0.7, "1": 0.3 } },
};

async function runWith(file: unknown) {
  const cwd = await folderWith([sampleMail()]);
  await writeFile(join(cwd, "questions.json"), JSON.stringify(file));
  const transport = recordingTransport(() => ({ ...sampleResponse(), answers }));
  const words = ["inbox.json", "--questions", "questions.json"];
  const outcome = await startTriage(words, { cwd, transport });
  return { ...outcome, cwd, requests: transport.requests };
}

test("a file of questions replaces the four, and each has its fields and columns", async () => {
  const { cwd, stdout, requests } = await runWith(questions);
  expect(requests.map(({ questions }) => questions)).toEqual([questions]);
  const { id, date, from, subject } = sampleMail();
  expect(await readResults(cwd)).toEqual([
    { id, date, from, subject, needsReply: 0.4, urgency: 0.3, urgencyConf: null },
  ]);
  expect(stdout).toMatch(
    /^needsReply +urgency +urgencyConf +date +from +subject\n0\.40 +0\.30 +- /,
  );
});

test.each([
  ["no object", [], "expected record"],
  ["no question", {}, "holds no question"],
  ["an unknown type", { a: { type: "text", instructions: "?" } }, "a type "],
  ["no option", { a: { type: "choice", instructions: "?", criteria: {} } }, "a criteria is empty"],
  [
    "a question for a field that is taken",
    { Subject: questions.urgency, subject: questions.urgency },
    '"subject"',
  ],
  ["two questions for one field", { a_b: questions.urgency, aB: questions.urgency }, 'field "aB"'],
])("%s is refused, and nothing is sent", async (_, file, message) => {
  const { exitCode, stderr, requests } = await runWith(file);
  expect({ exitCode, asked: requests.length }).toEqual({ exitCode: 1, asked: 0 });
  expect(stderr).toContain("questions.json cannot be used, and nothing was sent:\n  ");
  expect(stderr).toContain(message);
});
