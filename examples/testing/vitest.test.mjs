import { createEvaluator } from "evaluator-client";
import { record, replay } from "evaluator-client/testing";
import { afterAll, expect, test } from "vitest";
import { refund, riddle } from "./mails.mjs";
import { routeMail } from "./route-mail.mjs";

const folder = new URL("./exchanges", import.meta.url);
const transport = process.env.RECORD ? record(folder) : replay(folder);
const evaluator = createEvaluator({ transport });

afterAll(() => transport.assertAllUsed?.());

test("a refund goes to billing", async () => {
  expect(await routeMail(evaluator, refund)).toMatch(/^billing/);
});

test("what says nothing goes to a person", async () => {
  expect(await routeMail(evaluator, riddle)).toBe("person");
});
