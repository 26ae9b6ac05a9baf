import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startEmulator } from "../testing/engines.ts";
import { run } from "../testing/run.ts";
import { folderOf, tickets } from "../testing/tickets.ts";

const two = {
  refund: { type: "boolean", instructions: "Does the customer ask for a refund?" },
  angry: { type: "boolean", instructions: "Is the customer angry?" },
};

type Fault = "first-refusal" | "refusal" | "cut-state";

async function ask(kind: Fault, words: readonly string[] = []) {
  const { directBaseUrl, paths } = await startEmulator({ faults: [{ kind }] });
  const cwd = await folderOf({ "tickets.csv": tickets, "q.json": JSON.stringify(two) });
  const engine = ["--engine", `direct=${directBaseUrl}`];
  const command = ["run", "tickets.csv", "--questions", "q.json", ...engine, ...words];
  const again = async () => {
    const outcome = await run(cwd, command);
    const text = await readFile(join(cwd, "tickets.evaluator.json"), "utf8").catch(() => "null");
    return { ...outcome, results: JSON.parse(text) as unknown, asked: (await paths()).length };
  };
  return { first: await again(), again, cwd };
}

test("a refused question costs no other answer, and is not asked again", async () => {
  const { first, again } = await ask("first-refusal");
  expect(first.exitCode).toBe(2);
  expect(first.stderr).toContain(
    'Refused: record at index 0 (id "t-1"): the model declined to answer refund; the other answers are kept',
  );
  const angry = expect.any(Number) as number;
  const wanted = ["t-1", "t-2", "t-3"].map((id) => ({ id, refund: null, angry }));
  expect(first.results).toEqual(wanted);
  const second = await again();
  expect([second.results, second.asked]).toEqual([wanted, first.asked]);
});

test("a record whose questions are all refused is not asked again", async () => {
  const { first, again } = await ask("refusal");
  expect(first.stderr).toContain("The model declined to answer 2 of 2 questions");
  expect((await again()).asked).toBe(first.asked);
});

test("a cut state is no failure without a promise", async () => {
  const { first } = await ask("cut-state");
  expect(first.exitCode).toBe(0);
});
