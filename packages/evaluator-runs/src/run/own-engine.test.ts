import { createEmulator } from "evaluator-emulator";
import { openCatalog, openTransport } from "../service.ts";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { manyTickets, sampleTicket } from "../testing/tickets/ticket-source.ts";
import { folderWith, readResults, startTickets } from "../testing/tickets/start-tickets.ts";

const requestsSchema = z.object({ requests: z.array(z.object({ path: z.string() })) });

/** Starts a chat server with log-probabilities, and returns how triage runs on it. */
async function startEngine() {
  const emulator = createEmulator({ exchanges: [], engine: "ollama" });
  const { origin } = await emulator.listen();
  onTestFinished(() => emulator.close());
  const env = {
    EVALUATOR_TRANSPORT: "logprobs",
    EVALUATOR_LOGPROBS_BASE_URL: origin,
    EVALUATOR_MODEL_ID: "qwen3:4b",
  };
  const calls = async () => {
    const log = await emulator.fetch("/_emulator/requests?limit=10000");
    const { requests } = requestsSchema.parse(await log.json());
    return requests.filter(({ path }) => path === "/v1/chat/completions").length;
  };
  const triage = (cwd: string, ...words: string[]) =>
    startTickets(["inbox.json", ...words], { cwd, env, openTransport, openCatalog });
  return { origin, calls, triage };
}

// A dozen tickets, since each takes as many calls.
test("tickets are answered by a chat model on this machine, and a rerun asks nothing", async () => {
  const cwd = await folderWith(manyTickets(14));
  const { origin, calls, triage } = await startEngine();
  const first = await triage(cwd, "--limit", "12", "--concurrency", "4");
  const [engine, estimate, summary] = first.stderr.split("\n");
  expect(first.exitCode).toBe(0);
  expect(engine).toBe(`Engine: qwen3:4b through logprobs ${origin}/, prompts logprobs-1 balanced.`);
  expect(estimate).toMatch(
    /^To ask: 12 tickets, about [\d,]+ tokens in at most 156 calls, no known price \(no list has the price of qwen3:4b through logprobs; --price names one\), /,
  );
  expect(summary).toMatch(/^Answered: 12\. .* Took [\d,]+ tokens, no known price, /);
  const results = await readResults(cwd);
  expect(results).toHaveLength(12);
  for (const { scam, categoryConf, error } of results) {
    expect({ scam, categoryConf, error }).toEqual({ scam: expect.any(Number), categoryConf: null });
  }
  const asked = await calls();
  expect(asked).toBeGreaterThanOrEqual(12 * 4);

  const again = await triage(cwd, "--limit", "12");
  expect(again.stderr).toContain(
    "Answered: 0, 12 answered already. Journal: inbox.tickets.sqlite. Took 0 tokens, $0.00, ",
  );
  expect(again.stdout).toBe(first.stdout);
  expect(await calls()).toBe(asked);

  const { stdout } = await startTickets(["explain", "m-1"], { cwd });
  expect(stdout).toContain(`qwen3:4b through logprobs ${origin}/, prompts logprobs-1 balanced\n`);
  expect(stdout).toContain("cost      not reported for ");
});

test("the answers of one engine are not those of another", async () => {
  const cwd = await folderWith([sampleTicket()]);
  const { triage } = await startEngine();
  await triage(cwd);
  expect((await triage(cwd, "--offline")).stderr).toContain("Answered: 1. ");
  expect((await triage(cwd)).stderr).toContain("Answered: 0, 1 answered already. ");
});

test("--max-cost needs a price, which --price names where no list does", async () => {
  const cwd = await folderWith([sampleTicket()]);
  const { calls, triage } = await startEngine();
  const refused = await triage(cwd, "--max-cost", "1");
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain("--max-cost cannot be kept: no list has the price of qwen3:4b");
  expect(await calls()).toBe(0);
  const dear = await triage(cwd, "--max-cost", "0.1", "--price", "1000");
  expect(dear.stderr).toContain("The run would cost more than $0.10 (--max-cost)");
  expect(await calls()).toBe(0);
  const { exitCode, stderr } = await triage(cwd, "--max-cost", "0.1", "--price", "0.5");
  expect(exitCode).toBe(0);
  expect(stderr).toContain("($0.50 a million tokens: --price)");
});
