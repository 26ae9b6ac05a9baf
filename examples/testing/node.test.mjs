import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createEvaluator } from "evaluator-client";
import { record, replay } from "evaluator-client/testing";
import { refund, riddle } from "./mails.mjs";
import { routeMail } from "./route-mail.mjs";

const folder = new URL("./exchanges", import.meta.url);
const transport = process.env.RECORD ? record(folder) : replay(folder);
const evaluator = createEvaluator({ transport });

after(() => transport.assertAllUsed?.());

test("a refund goes to billing", async () => {
  assert.match(await routeMail(evaluator, refund), /^billing/);
});

test("what says nothing goes to a person", async () => {
  assert.equal(await routeMail(evaluator, riddle), "person");
});
