import { expect, test } from "vitest";
import { recordingTransport, sampleMail } from "../testing/samples.ts";
import { folderWith, startTriage } from "../testing/start-triage.ts";

const attachments = [{ name: "invoice.pdf", type: "application/pdf" }];
const plain = sampleMail({ id: "m-1" });
const whole = sampleMail({ id: "m-2", attachments, list_id: "<news.example.com>" });
// What a program before this one may have written there means something else.
const other = { ...sampleMail({ id: "m-3" }), attachments: 2, list_id: null };

test("each field is sent on demand alone, behind the contract's four, and asks again who has it", async () => {
  const cwd = await folderWith([plain, whole]);
  const transport = recordingTransport();
  await startTriage(["inbox.json"], { cwd, transport });
  await startTriage(["inbox.json", "--state-fields", "list_id"], { cwd, transport });
  await startTriage(["inbox.json", "--state-fields", "list_id, attachments"], { cwd, transport });
  const { from, subject, date, snippet } = plain;
  const state = { from, subject, date, snippet };
  expect(transport.requests.map((request) => request.state)).toEqual([
    state,
    state,
    { ...state, list_id: "<news.example.com>" },
    { ...state, attachments, list_id: "<news.example.com>" },
  ]);
  expect(Object.keys(transport.requests[3]?.state ?? {}).slice(4)).toEqual([
    "attachments",
    "list_id",
  ]);
});

test("what is to be sent and is of another form is named before anything is sent", async () => {
  const cwd = await folderWith([other]);
  const transport = recordingTransport();
  const words = ["inbox.json", "--state-fields", "attachments,list_id"];
  const { exitCode, stderr } = await startTriage(words, { cwd, transport });
  expect([exitCode, transport.requests.length]).toEqual([1, 0]);
  expect(stderr).toContain('(id "m-3"): attachments is not a list; write [{ name, type }]\n');
  expect(stderr).toContain('(id "m-3"): list_id is not text; write the List-Id header');
  expect(await startTriage(["inbox.json"], { cwd, transport })).toMatchObject({ exitCode: 0 });
});

test("a field that there is none of is refused with those that there are", async () => {
  const cwd = await folderWith([plain]);
  const { exitCode, stderr } = await startTriage(["inbox.json", "--state-fields", "headers"], {
    cwd,
  });
  expect(exitCode).toBe(1);
  expect(stderr).toContain(
    "argument 'headers' is invalid. Use some of attachments, list_id, authentication_results, with commas between.",
  );
});
