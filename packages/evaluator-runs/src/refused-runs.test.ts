import { join } from "node:path";
import { boolean, directTransport, gatewayTransport } from "evaluator-client";
import { createEmulator } from "evaluator-emulator";
import { temporaryFolder } from "evaluator-kit/testing";
import { expect, test } from "vitest";
import { openJournal, type RunOptions, runRecords } from "./index.ts";

const questions = { scam: boolean("Does it look like a scam?") };
const records = ["t-1", "t-2", "t-3"].map((id) => ({ id, state: `The ticket ${id}` }));

async function run(
  listed: Parameters<typeof runRecords>[0],
  { name = "gateway", ...options }: Partial<RunOptions> & { name?: string } = {},
) {
  const { fetch } = createEmulator();
  const transport = { ...gatewayTransport({ apiKey: "local", env: {}, fetch }), name };
  using journal = openJournal(join(await temporaryFolder(), "t.sqlite"), { questions, transport });
  return await runRecords(listed, { journal, transport, ...options });
}

test("a maximum without any known price is refused, and nothing is sent", async () => {
  const capped = run(records, { name: "pigeon", maxCostUsd: 1 });
  await expect(capped).rejects.toThrow("needs a price; set usdPerMillionTokens");
  expect(await run(records, { name: "pigeon" })).toMatchObject({ answered: 3 });
});

test("a maximum is kept by the price of a service's own", async () => {
  const { fetch } = createEmulator();
  const reach = { baseUrl: "http://emulator", apiKey: "any", env: {}, fetch };
  const transport = directTransport({ service: "openai", ...reach });
  using journal = openJournal(join(await temporaryFolder(), "t.sqlite"), { questions, transport });
  const capped = (maxCostUsd: number) => runRecords(records, { journal, transport, maxCostUsd });
  expect(await capped(1e-9)).toMatchObject({ answered: 0, notAsked: 3, isBudgetSpent: true });
  expect(await capped(1)).toMatchObject({ answered: 3, isBudgetSpent: false });
});

test.each([
  ["concurrency", 0],
  ["concurrency", Number.NaN],
  ["concurrency", 1.5],
  ["maxCostUsd", Number.NaN],
  ["maxCostUsd", -1],
  ["maxCostUsd", "0.1"],
  ["usdPerMillionTokens", -1],
  ["requestsPerMinute", 0],
  ["failuresAtStart", 0],
])("the option %s is refused as %s", async (option, value) => {
  const refused = run(records, { [option]: value });
  await expect(refused).rejects.toThrow(`The option "${option}" is not a`);
});

test.each(["usdPerMillionTokens", "next.usdPerMillionTokens"])(
  "the price of one token is refused as %s, and nothing is sent",
  async (option) => {
    const { fetch } = createEmulator();
    const transport = gatewayTransport({ apiKey: "local", env: {}, fetch });
    const price = { usdPerMillionTokens: 4.2e-8 };
    const options: Partial<RunOptions> = option.startsWith("next")
      ? { next: { transport, bounds: { scam: { below: 0.8 } }, ...price } }
      : price;
    const refused = run(records, { ...options, maxCostUsd: 1 });
    await expect(refused).rejects.toThrow(`"${option}" is the price of one token; set US dollars`);
    await expect(refused).rejects.toThrow("here 0.042. Nothing was sent.");
  },
);

test.each([
  [["a", "a"], "at index 1 is also that of the record at index 0"],
  [["a", ""], "at index 1 is not text, is empty or is not well-formed"],
  [[1], "at index 0 is not text, is empty or is not well-formed"],
  [["a", "\uD800"], "at index 1 is not text, is empty or is not well-formed"],
  [[{}], "at index 0 is not text, is empty or is not well-formed"],
])("records with the ids %j are refused", async (ids, problem) => {
  const listed = ids.map((id) => ({ id: id as string, state: "Lunch?" }));
  await expect(run(listed)).rejects.toThrow(problem);
});
