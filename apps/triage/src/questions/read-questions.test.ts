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

async function runWith(file: object) {
  const cwd = await folderWith([sampleMail()]);
  await writeFile(join(cwd, "questions.json"), JSON.stringify(file));
  const transport = recordingTransport(() => ({ ...sampleResponse(), answers }));
  const words = ["inbox.json", "--questions", "questions.json"];
  const outcome = await startTriage(words, { cwd, transport });
  return { ...outcome, cwd, requests: transport.requests };
}

test("a file of questions replaces the four, and each has its fields and columns", async () => {
  const { cwd, stdout, requests } = await runWith({ $schema: "a.json", ...questions });
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
  [{}, "questions.json:1:1 has no question"],
  [
    { Subject: questions.urgency, subject: questions.urgency },
    'subject and the mail itself have the same field "subject"; rename it',
  ],
  [
    { mug: { type: "box", instructions: "the coffee mug" } },
    "mug is a box, which needs an image; a mail has none",
  ],
  [
    { a_b: questions.urgency, aB: questions.urgency },
    'aB and the question a_b have the same field "aB"; rename it',
  ],
])("questions as %j are refused, and nothing is sent", async (file, message) => {
  const { exitCode, stderr, requests } = await runWith(file);
  expect({ exitCode, asked: requests.length }).toEqual({ exitCode: 1, asked: 0 });
  expect(stderr).toContain("questions.json cannot be used, and nothing was sent:\n  ");
  expect(stderr).toContain(message);
});
